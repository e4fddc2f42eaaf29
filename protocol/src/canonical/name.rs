//! Member names: their order by UTF-16 code units (RFC 8785, section 3.2.3).

use std::cmp::Ordering;

/// Compares two names, both UTF-8, as UTF-16 does.
///
/// UTF-8 sorts by code point. UTF-16 differs only in that U+E000 to U+FFFF, whose first byte is
/// EE or EF in UTF-8, come after everything above them, whose first byte is F0 to F4.
pub(super) fn compare(a: &[u8], b: &[u8]) -> Ordering {
    match a.iter().zip(b).find(|(a, b)| a != b) {
        Some((&a, &b)) => rank(a).cmp(&rank(b)),
        None => a.len().cmp(&b.len()),
    }
}

/// A number that sorts as the first eight bytes of a name do, so that most names are compared
/// at once. Two names of one prefix still have to be compared in full.
///
/// `word` holds what stands at the beginning of the name, the first byte lowest.
#[inline]
pub(super) fn prefix(word: u64, len: usize) -> u64 {
    let word = if len < 8 {
        word & ((1 << (8 * len)) - 1)
    } else {
        word
    };
    if word & 0x8080_8080_8080_8080 == 0 {
        word.swap_bytes()
    } else {
        u64::from_be_bytes(word.to_le_bytes().map(rank))
    }
}

const fn rank(byte: u8) -> u8 {
    match byte {
        0xEE | 0xEF => byte + 7,
        _ => byte,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::cursor::Cursor;

    #[test]
    fn names_sort_by_utf16_code_units() {
        let names = [
            "",
            "\0",
            "\0\0",
            "1",
            "10",
            "A",
            "a",
            "a\0",
            "aaaaaaaa",
            "aaaaaaaab",
            "\u{7f}",
            "\u{80}",
            "\u{20ac}",
            "\u{d7ff}",
            "\u{10000}",
            "\u{1f600}",
            "\u{1f600}\u{e000}",
            "\u{10ffff}",
            "\u{e000}",
            "\u{fb33}",
            "\u{ffff}",
            "\u{ffff}\u{10000}",
        ];
        for a in names {
            for b in names {
                let expected = a.encode_utf16().cmp(b.encode_utf16());
                assert_eq!(compare(a.as_bytes(), b.as_bytes()), expected, "{a:?} {b:?}");
                let [a, b] =
                    [a, b].map(|name| prefix(Cursor::new(name.as_bytes()).word(), name.len()));
                assert!(a == b || a.cmp(&b) == expected);
            }
        }
    }
}
