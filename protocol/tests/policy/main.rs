//! `policy.toml`: what it may say, what becomes of it, and the line about each thing that it may
//! not say.

mod credentials;
mod file;
mod identity;
mod limits;
mod routes;
mod tables;
mod upstreams;

use protocol::policy::file::parse;

/// Three lines: a route to a built-in operation.
const ORDERS: &str = "[[route]]\nmatch = 'POST /orders'\noperation = 'orders'\n";
/// Three lines: a route to an upstream.
const UPSTREAM: &str = "[[route]]\nmatch = 'POST /up'\nupstream = 'http://u'\n";

fn refusal(text: &str) -> Option<String> {
    Some(parse(text, "policy.toml").err()?.to_string())
}

/// Each text stands below a line `[[route]]`, and has the message.
fn assert_refused(cases: &[(&str, &str)]) {
    for (text, message) in cases {
        let refusal = refusal(&format!("[[route]]\n{text}"));
        assert_eq!(refusal, Some(format!("policy.toml:{message}")), "{text}");
    }
}

/// Each line is the fourth one, below a route.
fn assert_refused_below(route: &str, cases: &[(&str, &str)]) {
    for (line, message) in cases {
        let refusal = refusal(&format!("{route}{line}"));
        assert_eq!(refusal, Some(format!("policy.toml:4: {message}")), "{line}");
    }
}

fn assert_taken_below(route: &str, lines: &[&str]) {
    for line in lines {
        assert_eq!(refusal(&format!("{route}{line}")), None, "{line}");
    }
}
