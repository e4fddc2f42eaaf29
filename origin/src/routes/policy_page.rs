//! `/idempotency`: the policy of each route in plain words, for whoever writes a client.

use crate::App;
use axum::{extract::State, response::Html};
use protocol::{
    canonical::Pointer,
    policy::{KeyRule, PrincipalRule, Route, ScopeRule},
    record::AfterRetention,
};
use std::time::Duration;

pub(super) async fn show(State(app): State<App>) -> Html<String> {
    let routes: String = app.routes.iter().map(|route| section(route)).collect();
    Html(format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Idempotency</title>\n\
         <h1>Idempotency</h1>\n\
         <p>Send a new random <code>Idempotency-Key</code> (a UUID) with each operation, and the same one with \
         each retry of it. However often it arrives, the operation is done once, and every retry gets the first \
         answer to the byte, marked <code>Idempotent-Replayed: true</code>. Success and final failure are both \
         answers. A key is 1 to 255 visible ASCII characters, and its case counts.</p>\n\
         <p>What became of a key: <a href=\"/idempotency/status\">/idempotency/status</a>, sent with the key. \
         For programs: <a href=\"/.well-known/idempotency\">/.well-known/idempotency</a> and \
         <a href=\"/openapi.json\">/openapi.json</a>.</p>\n{routes}</html>\n"
    ))
}

fn section(route: &Route) -> String {
    let sentences = [
        key(route),
        principal(route),
        command(route),
        waiting(route),
        retention(route),
        sizes(route),
    ];
    let items = sentences
        .map(|sentence| escape(&sentence))
        .join("</li>\n<li>");
    let name = escape(&route.name());
    format!("<h2>{name}</h2>\n<ul>\n<li>{items}</li>\n</ul>\n")
}

fn key(route: &Route) -> String {
    match &route.key {
        KeyRule::Required => "A key is required: without one the answer is 400.".to_owned(),
        KeyRule::Optional => "A key is optional. Without one the operation is done each time, and the answer says Idempotency-Status: unprotected.".to_owned(),
        KeyRule::Derived(fields) => {
            let fields: Vec<_> = fields.iter().map(Pointer::as_str).collect();
            format!("Without a key, one is made of {} in the body: the same values are the same operation.", fields.join(", "))
        }
    }
}

fn principal(route: &Route) -> String {
    let who = match &route.principal {
        PrincipalRule::Anonymous if route.ignore_credentials => {
            "Callers are not told apart; credentials are not looked at.".to_owned()
        }
        PrincipalRule::Anonymous => {
            "Callers are not told apart; a request with Authorization is refused.".to_owned()
        }
        PrincipalRule::BearerJwt { claim } => {
            format!(
                "Each caller has keys of its own: the claim {claim} of the bearer token names it."
            )
        }
        PrincipalRule::Header(name) => {
            format!("Each caller has keys of its own: the value of {name} names it.")
        }
    };
    match route.scope {
        ScopeRule::Principal => who,
        ScopeRule::Route => format!("{who} A key counts on this route alone."),
    }
}

fn command(route: &Route) -> String {
    let selection = serde_json::to_value(&route.selection).unwrap_or_default();
    let list = |name: &str| {
        let list = selection.get(name).and_then(|list| list.as_array());
        let names = list.into_iter().flatten().filter_map(|name| name.as_str());
        names.collect::<Vec<_>>().join(", ")
    };
    let mut text = match list("include").as_str() {
        "" => "A retry must be the same command: method, path, query and body".to_owned(),
        include => format!(
            "A retry must be the same command: method, path, query and {include} of the body"
        ),
    };
    match list("exclude").as_str() {
        "" => {}
        exclude => text = format!("{text}, but for {exclude}"),
    }
    match route.fingerprint_headers.join(", ").as_str() {
        "" => {}
        headers => text = format!("{text}, with the headers {headers}"),
    }
    format!("{text}. How JSON is spelled does not count; another command under a used key is 422.")
}

fn waiting(route: &Route) -> String {
    let wait = words(route.wait_max);
    format!(
        "While the first request runs, a retry waits as long as Prefer: wait=N asks, {wait} at most, then gets 409 with Retry-After."
    )
}

fn retention(route: &Route) -> String {
    let kept = words(route.retention);
    let after = match (route.after_retention, route.tombstones_for) {
        (AfterRetention::Execute, _) => "After that the key may be used again.".to_owned(),
        (AfterRetention::Gone, None) => {
            "After that a retry is 410: the operation is never done again.".to_owned()
        }
        (AfterRetention::Gone, Some(kept)) => {
            let kept = words(kept);
            format!(
                "After that a retry is 410, and {kept} after the answer the key may be used again."
            )
        }
    };
    format!("An answer is replayed for {kept}, to the instant in Idempotency-Expires. {after}")
}

fn sizes(route: &Route) -> String {
    let (body, response) = (route.body_max, route.response_max);
    format!(
        "A body holds at most {body} bytes. An answer of more than {response} bytes reaches its first client, and a retry gets 410."
    )
}

/// A duration in its largest whole unit.
fn words(duration: Duration) -> String {
    let units = [
        (86_400, "day"),
        (3_600, "hour"),
        (60, "minute"),
        (1, "second"),
    ];
    let seconds = duration.as_secs();
    let fits = |(unit, _): &&(u64, _)| seconds.is_multiple_of(*unit) && seconds >= *unit;
    match units.iter().find(fits) {
        Some((unit, name)) if duration.subsec_nanos() == 0 => {
            let count = seconds / unit;
            format!("{count} {name}{}", if count == 1 { "" } else { "s" })
        }
        _ => format!("{} seconds", duration.as_secs_f64()),
    }
}

/// What a policy's author wrote, as text of a page.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_said_in_whole_units() {
        for (millis, text) in [
            (0, "0 seconds"),
            (500, "0.5 seconds"),
            (1_000, "1 second"),
            (90_000, "90 seconds"),
            (1_800_000, "30 minutes"),
            (86_400_000, "1 day"),
            (172_800_000, "2 days"),
        ] {
            assert_eq!(words(Duration::from_millis(millis)), text);
        }
    }

    #[test]
    fn what_a_policy_says_is_text() {
        assert_eq!(escape("<a & b>"), "&lt;a &amp; b&gt;");
    }
}
