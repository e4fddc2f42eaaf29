//! `GET /v1/payment_intents/search`: the part of Stripe's query language that compares metadata,
//! `metadata['scope']:'…' AND metadata["order"]:"…"`. Unlike Stripe, which may take a minute, the
//! sandbox finds an intent as soon as it exists.

use serde::Serialize;

use super::answer::{Answer, ApiError};
use super::call::Received;
use super::ledger::{Ledger, PaymentIntent};
use super::parameters::Parameters;

const LIMIT_DEFAULT: usize = 10;
const LIMIT_MAX: usize = 100;

#[derive(Serialize)]
struct SearchResult<'a> {
    object: &'static str,
    url: &'static str,
    has_more: bool,
    data: Vec<&'a PaymentIntent>,
}

#[derive(Debug, PartialEq, Eq)]
struct Condition {
    name: String,
    value: String,
}

/// Finds the intents that meet every condition, newest first.
pub(super) fn search(ledger: &Ledger, received: &Received) -> Result<Answer, Answer> {
    let parameters = &received.parameters;
    parameters.only(&["limit", "query"])?;
    let conditions = conditions(parameters.required("query")?).ok_or_else(not_understood)?;
    let limit = limit(parameters)?;
    let mut found = ledger.intents().iter().rev().filter(|intent| {
        let holds = |c: &Condition| intent.metadata.get(&c.name) == Some(&c.value);
        conditions.iter().all(holds)
    });
    Ok(Answer::ok(&SearchResult {
        object: "search_result",
        url: "/v1/payment_intents/search",
        data: found.by_ref().take(limit).collect(),
        has_more: found.next().is_some(),
    }))
}

fn limit(parameters: &Parameters) -> Result<usize, Answer> {
    match parameters.get("limit").map(str::parse) {
        None => Ok(LIMIT_DEFAULT),
        Some(Ok(limit @ 1..=LIMIT_MAX)) => Ok(limit),
        Some(_) => Err(ApiError::invalid("The limit is 1 to 100.")
            .code("parameter_invalid_integer")
            .param("limit")
            .bad_request()),
    }
}

fn not_understood() -> Answer {
    ApiError::invalid("The sandbox understands metadata['name']:'value', joined by AND.")
        .param("query")
        .bad_request()
}

fn conditions(query: &str) -> Option<Vec<Condition>> {
    let mut conditions = Vec::new();
    let mut rest = query.trim();
    loop {
        let (condition, tail) = condition(rest)?;
        conditions.push(condition);
        if tail.is_empty() {
            return Some(conditions);
        }
        rest = tail.strip_prefix(' ')?.trim_start();
        rest = rest.strip_prefix("AND ")?.trim_start();
    }
}

fn condition(text: &str) -> Option<(Condition, &str)> {
    let (name, rest) = quoted(text.strip_prefix("metadata[")?)?;
    let (value, rest) = quoted(rest.strip_prefix("]:")?)?;
    Some((Condition { name, value }, rest))
}

/// A text in single or double quotes, in which a backslash stands before a quote of its kind.
fn quoted(text: &str) -> Option<(String, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let mut value = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => value.push(chars.next()?.1),
            c if c == quote => return Some((value, &text[at + 1..])),
            c => value.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(query: &str) -> Option<Vec<(String, String)>> {
        let pairs = conditions(query)?.into_iter().map(|c| (c.name, c.value));
        Some(pairs.collect())
    }

    #[test]
    fn conditions_are_joined_by_and_in_either_quotes() {
        let expected = vec![("a".into(), "x AND y".into()), ("b".into(), "it's".into())];
        let query = r#"metadata['a']:'x AND y' AND metadata["b"]:'it\'s'"#;
        assert_eq!(pairs(query), Some(expected));
    }

    #[test]
    fn anything_else_is_not_understood() {
        for query in [
            "",
            "status:'succeeded'",
            "metadata['a']:'x",
            "metadata['a']:'x'AND metadata['b']:'y'",
            "metadata['a']:'x' OR metadata['b']:'y'",
            "metadata['a']:'x' AND",
            "metadata[a]:'x'",
        ] {
            assert_eq!(pairs(query), None, "{query}");
        }
    }
}
