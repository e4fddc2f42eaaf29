//! Numbers as the source spells them: grammar, limits, and whether they are canonical already.
//!
//! A number is judged twice, as it is written and as it comes out: a bound that held for only one
//! of the two would let a canonical text be refused, or `0e99999999` through.

mod common;
mod decimal;

use super::cursor::Cursor;
use super::error::{CanonicalError, CanonicalErrorKind as Kind};

pub(super) use common::skip_common;
use decimal::Decimal;

/// The most characters of a number, sign, point and exponent included.
///
/// The canonical text of a number of that length can be a few characters longer (a point and
/// `e+999`). That text is accepted, too.
pub const NUMBER_CHARS_MAX: usize = 1_000;

/// The largest exponent on either side of zero, both as written and in scientific notation
/// (one digit before the point). A zero is judged by the exponent written.
pub const EXPONENT_MAX: i32 = 1_000_000;

/// The most digits before the point in plain notation.
const INTEGER_LEN_MAX: u32 = 21;

/// A number as the source spells it.
pub(super) struct Number<'a> {
    /// All of it.
    spelled: &'a [u8],
    negative: bool,
    integer: &'a [u8],
    fraction: &'a [u8],
    exponent: Option<Exponent>,
}

/// An exponent as the source spells it.
struct Exponent {
    value: i32,
    /// A lower-case `e`, a sign, and no leading zero.
    minimal: bool,
}

/// Reads the number that is next.
pub(super) fn scan<'a>(cursor: &mut Cursor<'a>) -> Result<Number<'a>, CanonicalError> {
    let start = cursor.at();
    let negative = cursor.eat(b'-');
    let integer = digits(cursor)?;
    if integer.len() > 1 && integer.first() == Some(&b'0') {
        return Err(Kind::InvalidNumber.at(cursor.at() - integer.len() + 1));
    }
    let fraction = if cursor.eat(b'.') {
        digits(cursor)?
    } else {
        &[]
    };
    let exponent = match cursor.peek() {
        Some(b'e' | b'E') => Some(exponent(cursor)?),
        _ => None,
    };
    let spelled = cursor.since(start);
    let number = Number {
        spelled,
        negative,
        integer,
        fraction,
        exponent,
    };
    match number.beyond_limits() {
        Some(kind) => Err(kind.at(start)),
        None => Ok(number),
    }
}

fn digits<'a>(cursor: &mut Cursor<'a>) -> Result<&'a [u8], CanonicalError> {
    let start = cursor.at();
    cursor.skip_digits();
    match cursor.since(start) {
        [] => Err(Kind::InvalidNumber.at(start)),
        digits => Ok(digits),
    }
}

/// Reads the exponent whose `e` is next.
fn exponent(cursor: &mut Cursor<'_>) -> Result<Exponent, CanonicalError> {
    let lower = cursor.next() == Some(b'e');
    let negative = cursor.eat(b'-');
    let signed = negative || cursor.eat(b'+');
    let digits = digits(cursor)?;
    // Stops growing beyond the limit.
    let magnitude = digits.iter().fold(0, |value: i32, digit| {
        (value * 10 + i32::from(digit - b'0')).min(EXPONENT_MAX + 1)
    });
    let minimal = lower && signed && digits.first() != Some(&b'0');
    Ok(Exponent {
        value: if negative { -magnitude } else { magnitude },
        minimal,
    })
}

impl Number<'_> {
    /// Is the spelling the canonical one?
    pub(super) fn is_canonical(&self) -> bool {
        let trimmed = self.fraction.last() != Some(&b'0');
        trimmed
            && match &self.exponent {
                None => self.integer.len() <= INTEGER_LEN_MAX as usize && !self.has_plain_flaw(),
                Some(exponent) => exponent.minimal && self.is_scientific(exponent.value),
            }
    }

    /// Is it `-0`, or so small that it is written with an exponent?
    fn has_plain_flaw(&self) -> bool {
        let minus_zero = self.negative && self.fraction.is_empty();
        self.integer == b"0" && (minus_zero || self.fraction.starts_with(b"000000"))
    }

    /// One digit that is not zero before the point, and too large or small for plain notation?
    fn is_scientific(&self, exponent: i32) -> bool {
        self.integer.len() == 1 && self.integer != b"0" && !(-6..=20).contains(&exponent)
    }

    /// The limit that the number does not keep.
    fn beyond_limits(&self) -> Option<Kind> {
        let Some(exponent) = &self.exponent else {
            return (self.spelled.len() > NUMBER_CHARS_MAX).then_some(Kind::NumberTooLong);
        };
        let len = if self.is_canonical() {
            usize::from(self.negative) + self.integer.len() + self.fraction.len()
        } else {
            self.spelled.len()
        };
        if len > NUMBER_CHARS_MAX {
            return Some(Kind::NumberTooLong);
        }
        let scientific = self.decimal().scientific_exponent().unwrap_or(0);
        let largest = exponent.value.abs().max(scientific.abs());
        (largest > EXPONENT_MAX).then_some(Kind::ExponentTooLarge)
    }

    fn decimal(&self) -> Decimal<'_> {
        let exponent = self.exponent.as_ref().map_or(0, |exponent| exponent.value);
        Decimal::new(self.integer, self.fraction, exponent)
    }

    /// Appends the canonical text.
    pub(super) fn push_canonical(&self, out: &mut Vec<u8>) {
        let decimal = self.decimal();
        if decimal.is_zero() {
            return out.push(b'0');
        }
        if self.negative {
            out.push(b'-');
        }
        decimal.push(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The canonical text, and whether the spelling is that text already.
    fn read(spelled: &str) -> Result<(String, bool), CanonicalError> {
        let number = scan(&mut Cursor::new(spelled.as_bytes()))?;
        let mut out = Vec::new();
        number.push_canonical(&mut out);
        Ok((String::from_utf8(out).unwrap(), number.is_canonical()))
    }

    #[test]
    fn a_spelling_is_canonical_when_it_is_the_text() {
        for spelled in [
            "0",
            "-0",
            "1",
            "1.0",
            "10e-1",
            "0.1",
            "0.10",
            "0.000001",
            "0.0000001",
            "1e-7",
            "1e-6",
            "1e7",
            "1e21",
            "1e+21",
            "1E+21",
            "1e+021",
            "1.5e+21",
            "15e+20",
            "1.50e+21",
            "0e+21",
            "1e+20",
            "-1e-7",
            "123456789012345678901",
            "1234567890123456789012",
            "0.0",
            "-0.5",
            "1e+1000000",
            "1e-1000000",
        ] {
            let (text, canonical) = read(spelled).unwrap();
            assert_eq!(canonical, text == spelled, "{spelled}");
            assert_eq!(read(&text), Ok((text.clone(), true)));
        }
    }

    #[test]
    fn both_limits_hold_for_both_spellings() {
        for (spelled, kind) in [
            ("9".repeat(1_001), Kind::NumberTooLong),
            (format!("0.{}", "1".repeat(999)), Kind::NumberTooLong),
            (format!("1.{}e+999", "1".repeat(1_000)), Kind::NumberTooLong),
            ("1e1000001".to_owned(), Kind::ExponentTooLarge),
            ("10e1000000".to_owned(), Kind::ExponentTooLarge),
            ("0.1e1000001".to_owned(), Kind::ExponentTooLarge),
            ("0e99999999999999999999".to_owned(), Kind::ExponentTooLarge),
        ] {
            assert_eq!(read(&spelled), Err(kind.at(0)), "{spelled}");
        }
        let (longest, _) = read(&"9".repeat(1_000)).unwrap();
        assert_eq!(longest.len(), 1_006);
        assert_eq!(read(&longest), Ok((longest.clone(), true)));
    }
}
