//! The numbers that nearly all bodies are made of, at a glance.

use super::INTEGER_LEN_MAX;
use crate::canonical::block::{self, Block};
use crate::canonical::cursor::Cursor;

/// The most bytes of a common number, the byte behind it included.
const COMMON_LEN: usize = 2 * block::LEN;

/// Steps over the number that is next if it is a common canonical one: short, without exponent,
/// and not between -0.1 and 0.1. Otherwise [`scan`](super::scan) decides.
///
/// Nearly free of branches, because nobody can predict how long numbers are, and with the length
/// found first, because the next token waits for it.
#[inline]
#[expect(
    clippy::needless_bitwise_bool,
    reason = "`&&` and `||` would be branches"
)]
pub(in crate::canonical) fn skip_common(cursor: &mut Cursor<'_>) -> bool {
    let rest = cursor.rest();
    let last;
    let bytes = if let Some(bytes) = rest.first_chunk() {
        bytes
    } else {
        last = padded(rest);
        &last
    };
    let byte = |index: u32| *bytes.get(index as usize % COMMON_LEN).unwrap_or(&0);
    let (behind, signs) = marks(bytes);
    let end = behind.trailing_zeros();
    let inside = (behind & behind.wrapping_neg()).wrapping_sub(1);
    // The first byte is a digit or a minus, so what is left is the point, if anything.
    let negative = signs & inside & 1;
    let points = signs & inside & !1;
    let has_point = points != 0;
    let point = (points | !inside).trailing_zeros();
    let integer = point - negative;
    let rare_zero = (byte(negative) == b'0')
        & ((integer != 1)
            | (has_point & (byte(point + 1) == b'0'))
            | (!has_point & (negative != 0)));
    // A fraction that ends with a zero, or with the point itself.
    let rare_end = matches!(byte(end.wrapping_sub(1)), b'.' | b'0');
    let rare_point = (byte(point) != b'.') | !points.is_power_of_two();
    let rare = (behind == 0)
        | (integer.wrapping_sub(1) >= INTEGER_LEN_MAX)
        | rare_zero
        | (has_point & (rare_end | rare_point))
        | (byte(end) | 0x20 == b'e');
    if !rare {
        cursor.skip(end as usize);
    }
    !rare
}

/// The last bytes of the source, with zeros behind them, which are no part of a number.
#[cold]
fn padded(rest: &[u8]) -> [u8; COMMON_LEN] {
    let mut bytes = [0; COMMON_LEN];
    let places = bytes.iter_mut().zip(rest);
    places.for_each(|(to, from)| *to = *from);
    bytes
}

/// Which bytes are no part of a number, and which are a minus, point or slash.
#[inline]
fn marks(bytes: &[u8; COMMON_LEN]) -> (u32, u32) {
    const ZEROS: &[u8; block::LEN] = &[0; block::LEN];
    let low = Block::new(bytes.first_chunk().unwrap_or(ZEROS)).number_marks();
    let high = Block::new(bytes.last_chunk().unwrap_or(ZEROS)).number_marks();
    (low.0 | high.0 << block::LEN, low.1 | high.1 << block::LEN)
}

#[cfg(test)]
mod tests {
    use super::super::scan;
    use super::*;

    /// The number's length when it is skipped, judged by both ways.
    fn skipped(body: &str) -> Option<usize> {
        let padded = format!("{body}{}", " ".repeat(COMMON_LEN));
        let mut cursor = Cursor::new(padded.as_bytes());
        let skipped = skip_common(&mut cursor).then(|| cursor.at());
        assert!(skipped.is_some() || cursor.at() == 0);
        let mut slow = Cursor::new(padded.as_bytes());
        let number = scan(&mut slow);
        if skipped.is_some() {
            assert!(number.is_ok_and(|number| number.is_canonical()), "{body}");
            assert_eq!(skipped, Some(slow.at()), "{body}");
        }
        skipped
    }

    #[test]
    fn common_numbers_are_skipped() {
        for number in [
            "0",
            "7",
            "-1",
            "10",
            "0.5",
            "-0.5",
            "12.25",
            "100",
            "-122.416294033786585",
        ] {
            for behind in ["", ",", "]", "}", "\n", "x", "\""] {
                assert_eq!(
                    skipped(&format!("{number}{behind}")),
                    Some(number.len()),
                    "{number}"
                );
            }
        }
        assert_eq!(skipped(&"1".repeat(21)), Some(21));
        for number in ["7", "-1", "12.25", "-122.416294033786585"] {
            let mut cursor = Cursor::new(number.as_bytes());
            assert!(
                skip_common(&mut cursor) && cursor.peek().is_none(),
                "{number}"
            );
        }
        for rest in ["", "-", "1.", "1e", "-0", "1.0"] {
            assert!(!skip_common(&mut Cursor::new(rest.as_bytes())), "{rest}");
        }
        assert_eq!(skipped(&format!("1.{}", "1".repeat(29))), Some(31));
    }

    #[test]
    fn rare_and_wrong_numbers_are_left_to_the_scanner() {
        for body in [
            "-0", "01", "-01", "00", "0.0", "0.05", "1.0", "1.50", "1.", "-", "-.5", "1e5", "1E5",
            "1.5e5", "1..2", "1.2.3", "1-2", "1.-2", "1/2", "--1", "1.2-", "-/", "0e1",
        ] {
            assert_eq!(skipped(body), None, "{body}");
        }
        assert_eq!(skipped(&"1".repeat(22)), None);
        assert_eq!(skipped(&format!("1.{}", "1".repeat(30))), None);
    }

    #[test]
    fn every_short_text_is_judged_as_the_scanner_judges_it() {
        const BYTES: &[u8] = b"-./019e,";
        for first in [b'-', b'0', b'1'] {
            for code in 0..BYTES.len().pow(5) {
                let byte = |place: u32| BYTES[code / BYTES.len().pow(place) % BYTES.len()];
                let text = [first, byte(0), byte(1), byte(2), byte(3), byte(4)];
                skipped(std::str::from_utf8(&text).unwrap());
            }
        }
    }
}
