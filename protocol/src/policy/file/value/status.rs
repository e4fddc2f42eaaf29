//! Lists of upstream statuses: `200`, `"2xx"`, `"400-407"`, `"503 with Retry-After"`.

use crate::policy::{StatusRange, file::fault::Wrong};
use toml::de::DeValue;

const EXAMPLE: &str = r#"["2xx", "400-407", 409, "503 with Retry-After"]"#;

/// Definitive unless said otherwise: what a client need not, and so must not, send again. 408, 425
/// and 429 ask for another try.
pub(in crate::policy::file) fn archived_by_default() -> Vec<StatusRange> {
    let ranges = [(200, 399), (400, 407), (409, 424), (426, 428), (430, 499)];
    ranges
        .map(|(from, to)| StatusRange {
            from,
            to,
            with_retry_after: false,
        })
        .to_vec()
}

/// Taken to mean that nothing happened, unless said otherwise.
pub(in crate::policy::file) fn released_by_default() -> Vec<StatusRange> {
    let ranges = [(425, false), (429, false), (503, true)];
    let range = |(status, with_retry_after)| StatusRange {
        from: status,
        to: status,
        with_retry_after,
    };
    ranges.map(range).to_vec()
}

/// The whole list.
pub(in crate::policy::file) fn list(value: &DeValue<'_>) -> Result<Vec<StatusRange>, Wrong> {
    super::list(value, EXAMPLE, range)
}

fn range(value: &DeValue<'_>) -> Result<StatusRange, Wrong> {
    let number;
    let text = match value {
        DeValue::Integer(integer) => {
            number = integer.to_string();
            &number
        }
        value => super::text(value, EXAMPLE)?,
    };
    let (statuses, with_retry_after) = match text.strip_suffix(" with Retry-After") {
        Some(statuses) => (statuses, true),
        None => (text, false),
    };
    let (from, to) = bounds(statuses)
        .filter(|(from, to)| 200 <= *from && from <= to && *to <= 599)
        .ok_or_else(|| Wrong::new(format!("holds {text}, which is no final status"), EXAMPLE))?;
    Ok(StatusRange {
        from,
        to,
        with_retry_after,
    })
}

fn bounds(text: &str) -> Option<(u16, u16)> {
    if let Some(class) = text.strip_suffix("xx") {
        let class: u16 = class.parse().ok().filter(|class| *class < 10)?;
        return Some((class * 100, class * 100 + 99));
    }
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    Some((from.parse().ok()?, to.parse().ok()?))
}
