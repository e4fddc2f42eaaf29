//! Numbers: their exact decimal value in the notation of ECMAScript's `Number::toString`.
//!
//! A number is judged twice, as it is written and as it comes out: a bound that held for only one
//! of the two would let a canonical text be refused, or `0e99999999` through.

use std::io::Write as _;

use super::block::{self, Block};
use super::cursor::Cursor;
use super::error::{CanonicalError, CanonicalErrorKind as Kind};

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
    negative: bool,
    integer: &'a [u8],
    fraction: &'a [u8],
    exponent: Option<Exponent>,
    /// The whole spelling.
    pub(super) spelled: &'a [u8],
}

/// An exponent as the source spells it.
struct Exponent {
    value: i32,
    /// A lower-case `e`, a sign, and no leading zero.
    minimal: bool,
}

/// The most bytes of a common number, the byte behind it included.
const COMMON_LEN: usize = 2 * block::LEN;

/// Steps over the number that is next if it is a common canonical one: short, without exponent,
/// and not between -0.1 and 0.1. Otherwise [`scan`] decides.
///
/// Nearly free of branches, because nobody can predict how long numbers are, and with the length
/// found first, because the next token waits for it.
#[inline]
#[expect(
    clippy::needless_bitwise_bool,
    reason = "`&&` and `||` would be branches"
)]
pub(super) fn skip_common(cursor: &mut Cursor<'_>) -> bool {
    let Some(bytes) = cursor.rest().first_chunk::<COMMON_LEN>() else {
        return false;
    };
    let byte = |index: u32| *bytes.get(index as usize % COMMON_LEN).unwrap_or(&0);
    let (low, high) = blocks(bytes);
    let behind = low.other_than_number() | high.other_than_number() << block::LEN;
    let end = behind.trailing_zeros();
    let inside = (behind & behind.wrapping_neg()).wrapping_sub(1);
    let signs = (low.other_than_digits() | high.other_than_digits() << block::LEN) & inside;
    // The first byte is a digit or a minus, so what is left is the point, if anything.
    let (negative, points) = (signs & 1, signs & !1);
    let point = (points | !inside).trailing_zeros();
    let has_point = points != 0;
    let integer = point - negative;
    let zero_allowed =
        (integer == 1) & ((has_point & (byte(point + 1) != b'0')) | (!has_point & (negative == 0)));
    let last = byte(end.wrapping_sub(1));
    let next = byte(end);
    let common = (behind != 0)
        & (integer.wrapping_sub(1) < INTEGER_LEN_MAX)
        & ((byte(negative) != b'0') | zero_allowed)
        & (!has_point | ((byte(point) == b'.') & (points.is_power_of_two())))
        & !(has_point & ((last == b'.') | (last == b'0')))
        & (next | 0x20 != b'e');
    if common {
        cursor.skip(end as usize);
    }
    common
}

#[inline]
fn blocks(bytes: &[u8; COMMON_LEN]) -> (Block, Block) {
    const ZEROS: &[u8; block::LEN] = &[0; block::LEN];
    let low = bytes.first_chunk().unwrap_or(ZEROS);
    let high = bytes.last_chunk().unwrap_or(ZEROS);
    (Block::new(low), Block::new(high))
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
        negative,
        integer,
        fraction,
        exponent,
        spelled,
    };
    if number.spelled.len() > NUMBER_CHARS_MAX || number.exponent.is_some() {
        number.check_limits().map_err(|kind| kind.at(start))?;
    }
    Ok(number)
}

#[inline]
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
    // Saturates far beyond the limit.
    let magnitude = digits.iter().fold(0_i32, |value, &digit| {
        value
            .saturating_mul(10)
            .saturating_add(i32::from(digit - b'0'))
            .min(EXPONENT_MAX + 1)
    });
    let minimal = lower && signed && digits.first() != Some(&b'0');
    Ok(Exponent {
        value: if negative { -magnitude } else { magnitude },
        minimal,
    })
}

impl Number<'_> {
    /// Is the spelling the canonical one?
    #[inline]
    pub(super) fn is_canonical(&self) -> bool {
        let trimmed = self.fraction.last() != Some(&b'0');
        match &self.exponent {
            None => trimmed && self.integer.len() <= 21 && !self.has_plain_flaw(),
            Some(exponent) => trimmed && exponent.minimal && self.is_scientific(exponent.value),
        }
    }

    /// Is it `-0`, or so small that it is written with an exponent?
    #[inline]
    fn has_plain_flaw(&self) -> bool {
        self.integer == b"0"
            && (self.fraction.starts_with(b"000000") || self.negative && self.fraction.is_empty())
    }

    /// One digit that is not zero before the point, and too large or small for plain notation?
    fn is_scientific(&self, exponent: i32) -> bool {
        self.integer.len() == 1 && self.integer != b"0" && !(-6..=20).contains(&exponent)
    }

    #[cold]
    fn check_limits(&self) -> Result<(), Kind> {
        let longest = if self.exponent.is_some() && self.is_canonical() {
            usize::from(self.negative) + self.integer.len() + self.fraction.len()
        } else {
            self.spelled.len()
        };
        if longest > NUMBER_CHARS_MAX {
            return Err(Kind::NumberTooLong);
        }
        let decimal = self.decimal();
        let scientific = if decimal.len() == 0 {
            0
        } else {
            decimal.point - 1
        };
        match self.written_exponent().abs().max(scientific.abs()) {
            0..=EXPONENT_MAX => Ok(()),
            _ => Err(Kind::ExponentTooLarge),
        }
    }

    fn written_exponent(&self) -> i32 {
        self.exponent.as_ref().map_or(0, |exponent| exponent.value)
    }

    /// The value as 0.d × 10^point, where d are the significant digits.
    fn decimal(&self) -> Decimal<'_> {
        let head = without_leading_zeros(self.integer);
        let tail = if head.is_empty() {
            without_leading_zeros(self.fraction)
        } else {
            self.fraction
        };
        // Both lengths are below the limit here, so nothing is lost.
        let point =
            as_i32(head.len()) - as_i32(self.fraction.len() - tail.len()) + self.written_exponent();
        let tail = without_trailing_zeros(tail);
        let head = if tail.is_empty() {
            without_trailing_zeros(head)
        } else {
            head
        };
        Decimal { head, tail, point }
    }

    /// Appends the canonical text.
    pub(super) fn push_canonical(&self, out: &mut Vec<u8>) {
        let decimal = self.decimal();
        if decimal.len() == 0 {
            return out.push(b'0');
        }
        if self.negative {
            out.push(b'-');
        }
        decimal.push(out);
    }
}

/// Significant digits (in two parts that belong together) and the place of the point before them.
struct Decimal<'a> {
    head: &'a [u8],
    tail: &'a [u8],
    point: i32,
}

impl Decimal<'_> {
    fn len(&self) -> usize {
        self.head.len() + self.tail.len()
    }

    /// `Number::toString` of ECMAScript (section 6.1.6.1.20), steps 6 to 12, where its k is
    /// `len` and its n is `point`.
    fn push(&self, out: &mut Vec<u8>) {
        match self.point {
            1..=21 => self.push_plain(out),
            -5..=0 => {
                out.extend_from_slice(b"0.");
                push_zeros(self.point.unsigned_abs() as usize, out);
                self.push_digits(out);
            }
            _ => self.push_scientific(out),
        }
    }

    fn push_plain(&self, out: &mut Vec<u8>) {
        let start = out.len();
        let point = self.point.unsigned_abs() as usize;
        self.push_digits(out);
        match point.checked_sub(self.len()) {
            Some(zeros) => push_zeros(zeros, out),
            None => out.insert(start + point, b'.'),
        }
    }

    fn push_scientific(&self, out: &mut Vec<u8>) {
        let start = out.len();
        self.push_digits(out);
        if self.len() > 1 {
            out.insert(start + 1, b'.');
        }
        // Writing into a vector can't fail.
        let _ = write!(out, "e{:+}", self.point - 1);
    }

    fn push_digits(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.head);
        out.extend_from_slice(self.tail);
    }
}

fn push_zeros(count: usize, out: &mut Vec<u8>) {
    out.resize(out.len() + count, b'0');
}

fn without_leading_zeros(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    digits.get(zeros..).unwrap_or_default()
}

fn without_trailing_zeros(digits: &[u8]) -> &[u8] {
    let zeros = digits
        .iter()
        .rev()
        .take_while(|&&digit| digit == b'0')
        .count();
    digits.get(..digits.len() - zeros).unwrap_or_default()
}

fn as_i32(len: usize) -> i32 {
    i32::try_from(len).unwrap_or(i32::MAX / 4)
}
