//! Exact decimal values, and their notation in ECMAScript's `Number::toString`.

use std::io::Write as _;

/// The value 0.d × 10^point, where d are the significant digits, in two parts that belong together.
/// They neither begin nor end with a zero; a zero has none.
pub(super) struct Decimal<'a> {
    head: &'a [u8],
    tail: &'a [u8],
    point: i32,
}

impl<'a> Decimal<'a> {
    /// The value of `integer`.`fraction` × 10^`exponent`.
    pub(super) fn new(integer: &'a [u8], fraction: &'a [u8], exponent: i32) -> Self {
        let head = without_leading_zeros(integer);
        let tail = if head.is_empty() {
            without_leading_zeros(fraction)
        } else {
            fraction
        };
        let point = as_i32(head.len()) - as_i32(fraction.len() - tail.len()) + exponent;
        let tail = without_trailing_zeros(tail);
        let head = if tail.is_empty() {
            without_trailing_zeros(head)
        } else {
            head
        };
        Self { head, tail, point }
    }

    pub(super) const fn is_zero(&self) -> bool {
        self.len() == 0
    }

    /// The exponent in scientific notation, with one digit before the point. None for a zero.
    pub(super) fn scientific_exponent(&self) -> Option<i32> {
        (!self.is_zero()).then_some(self.point - 1)
    }

    const fn len(&self) -> usize {
        self.head.len() + self.tail.len()
    }

    /// Appends a value that is not zero: steps 6 to 12 of `Number::toString` in ECMAScript, section
    /// 6.1.6.1.20, where k is the number of digits and n is `point`.
    pub(super) fn push(&self, out: &mut Vec<u8>) {
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

/// Numbers are short when they get here: see [`NUMBER_CHARS_MAX`](super::NUMBER_CHARS_MAX).
fn as_i32(len: usize) -> i32 {
    i32::try_from(len).unwrap_or(i32::MAX / 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_ecmascript_writes_them() {
        for (integer, fraction, exponent, expected) in [
            ("1", "", 0, "1"),
            ("0", "10", 1, "1"),
            ("100", "", -2, "1"),
            ("12", "50", 0, "12.5"),
            ("1", "", 20, "100000000000000000000"),
            ("1", "", 21, "1e+21"),
            ("123", "", 20, "1.23e+22"),
            ("0", "000001", 0, "0.000001"),
            ("0", "0000001", 0, "1e-7"),
            ("00120", "0", -9, "1.2e-7"),
            ("9007199254740993", "", 0, "9007199254740993"),
        ] {
            let mut out = b"[".to_vec();
            Decimal::new(integer.as_bytes(), fraction.as_bytes(), exponent).push(&mut out);
            assert_eq!(out, format!("[{expected}").as_bytes());
        }
    }

    #[test]
    fn a_zero_has_no_exponent() {
        assert_eq!(Decimal::new(b"0", b"000", 5).scientific_exponent(), None);
        assert_eq!(Decimal::new(b"0", b"010", 5).scientific_exponent(), Some(3));
        assert_eq!(Decimal::new(b"120", b"", 0).scientific_exponent(), Some(2));
    }
}
