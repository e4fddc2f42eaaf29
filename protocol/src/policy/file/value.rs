//! Values of any setting: texts, flags, words of a fixed choice, lists.

pub(super) mod header_name;
pub(super) mod pointer;
pub(super) mod status;
pub(super) mod units;
pub(super) mod url;

use super::fault::Wrong;
use toml::de::DeValue;

/// The kind of a value, in words.
pub(super) fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// Another kind of value is expected here; `instead` is an example of it.
pub(super) fn unexpected(value: &DeValue<'_>, instead: &str) -> Wrong {
    Wrong::new(format!("is {}", kind(value)), instead)
}

/// A text that is not empty.
pub(super) fn text<'v>(value: &'v DeValue<'_>, instead: &str) -> Result<&'v str, Wrong> {
    match value.as_str() {
        Some("") => Err(Wrong::new("is empty", instead)),
        Some(text) => Ok(text),
        None => Err(unexpected(value, instead)),
    }
}

/// `true` or `false`.
pub(super) fn flag(value: &DeValue<'_>) -> Result<bool, Wrong> {
    value
        .as_bool()
        .ok_or_else(|| unexpected(value, "true or false"))
}

/// One of a few words.
pub(super) fn choice<T: Copy>(value: &DeValue<'_>, choices: &[(&str, T)]) -> Result<T, Wrong> {
    let words: Vec<_> = choices
        .iter()
        .map(|(word, _)| format!("\"{word}\""))
        .collect();
    let instead = words.join(" or ");
    let text = text(value, &instead)?;
    let chosen = choices.iter().find(|(word, _)| *word == text);
    chosen
        .map(|(_, chosen)| *chosen)
        .ok_or_else(|| Wrong::new(format!("is \"{text}\""), instead))
}

/// A list, each element of which `read` understands, and none of which is there twice.
pub(super) fn list<T: PartialEq>(
    value: &DeValue<'_>,
    instead: &str,
    read: impl Fn(&DeValue<'_>) -> Result<T, Wrong>,
) -> Result<Vec<T>, Wrong> {
    let DeValue::Array(elements) = value else {
        return Err(unexpected(value, instead));
    };
    let mut list = Vec::new();
    for element in elements {
        let at = element.span().start;
        let element = read(element.get_ref()).map_err(|wrong| wrong.in_list(at))?;
        if list.contains(&element) {
            return Err(Wrong::new("names one thing twice", "each of them once").in_list(at));
        }
        list.push(element);
    }
    Ok(list)
}
