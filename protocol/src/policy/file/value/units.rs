//! Durations such as `"600s"` and sizes such as `"1MiB"`.

use super::text;
use crate::policy::file::fault::Wrong;
use std::{ops::RangeInclusive, time::Duration};
use toml::de::DeValue;

/// The longest retention: the origin keeps one partition of responses a day.
pub const RETENTION_MAX: Duration = Duration::from_hours(400 * 24);
/// The longest that an operation may run.
pub const LOCK_TTL_MAX: Duration = Duration::from_hours(24);
/// The largest `body_max` and `response_max`: both layers hold such bytes in memory whole.
pub const BYTES_MAX: usize = 32 << 20;

const MILLISECONDS: [(&str, u64); 5] = [
    ("ms", 1),
    ("s", 1000),
    ("m", 60_000),
    ("h", 3_600_000),
    ("d", 86_400_000),
];
const BYTES: [(&str, u64); 4] = [
    ("B", 1),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];

/// A duration within these bounds.
pub(in crate::policy::file) fn duration(
    value: &DeValue<'_>,
    bounds: RangeInclusive<Duration>,
) -> Result<Duration, Wrong> {
    const EXAMPLES: &str = r#""500ms", "600s", "30m", "24h" or "7d""#;
    let millis = quantity(text(value, EXAMPLES)?, &MILLISECONDS);
    let millis = millis.ok_or_else(|| Wrong::new("is no duration", EXAMPLES))?;
    let duration = Duration::from_millis(millis);
    let (min, max) = (*bounds.start(), *bounds.end());
    if duration < min {
        let wrong = format!("is shorter than {}", duration_text(min));
        return Err(Wrong::new(
            wrong,
            format!("\"{}\" or longer", duration_text(min)),
        ));
    }
    if duration > max {
        let wrong = format!("is longer than {}", duration_text(max));
        return Err(Wrong::new(
            wrong,
            format!("\"{}\" or shorter", duration_text(max)),
        ));
    }
    Ok(duration)
}

/// A size in bytes, 1 to [`BYTES_MAX`].
pub(in crate::policy::file) fn size(value: &DeValue<'_>) -> Result<usize, Wrong> {
    const EXAMPLES: &str = r#""1MiB", "64KiB" or a number of bytes"#;
    let bytes = match value {
        DeValue::Integer(number) => u64::from_str_radix(number.as_str(), number.radix()).ok(),
        value => quantity(text(value, EXAMPLES)?, &BYTES),
    };
    match bytes.map(usize::try_from) {
        None => Err(Wrong::new("is no size", EXAMPLES)),
        Some(Ok(bytes @ 1..=BYTES_MAX)) => Ok(bytes),
        Some(Ok(0)) => Err(Wrong::new("is no byte at all", EXAMPLES)),
        Some(_) => Err(Wrong::new("is larger than 32MiB", r#""32MiB" or less"#)),
    }
}

/// Decimal digits and one of the units, in the smallest unit.
fn quantity(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at_checked(digits)?;
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    number.parse::<u64>().ok()?.checked_mul(*factor)
}

/// A duration as the file would have it, in its largest whole unit.
pub(in crate::policy::file) fn duration_text(duration: Duration) -> String {
    let millis = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let fits = |(_, factor): &&(&str, u64)| millis >= *factor && millis % factor == 0;
    let (unit, factor) = MILLISECONDS
        .iter()
        .rev()
        .find(fits)
        .copied()
        .unwrap_or(("ms", 1));
    format!("{}{unit}", millis / factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_named_in_their_largest_whole_unit() {
        for (millis, text) in [
            (0, "0ms"),
            (1500, "1500ms"),
            (90_000, "90s"),
            (86_400_000, "1d"),
        ] {
            assert_eq!(duration_text(Duration::from_millis(millis)), text);
        }
    }

    #[test]
    fn a_quantity_is_digits_and_a_unit() {
        assert_eq!(quantity("7d", &MILLISECONDS), Some(604_800_000));
        assert_eq!(quantity("64KiB", &BYTES), Some(65_536));
        for text in [
            "",
            "s",
            "1",
            "1.5h",
            "-1s",
            "+1s",
            "1 s",
            "1S",
            "99999999999999999999s",
        ] {
            assert_eq!(quantity(text, &MILLISECONDS), None, "{text}");
        }
    }
}
