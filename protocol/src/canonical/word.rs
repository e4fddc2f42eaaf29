//! Eight bytes at a time, in one `u64`: the first byte of the text is the lowest byte of the word.
//!
//! Each test sets the high bit of the bytes it finds. A borrow or carry can set bits falsely, but
//! only above a true one, so the lowest set bit is always right.

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

const fn repeat(byte: u8) -> u64 {
    LOW * byte as u64
}

/// How many bytes from the first on are plain in a JSON string: no quote, backslash or control.
#[inline]
pub(super) const fn plain(word: u64) -> usize {
    let quote = word ^ repeat(b'"');
    let backslash = word ^ repeat(b'\\');
    let found = (quote.wrapping_sub(LOW) & !quote)
        | (backslash.wrapping_sub(LOW) & !backslash)
        | (word.wrapping_sub(repeat(0x20)) & !word);
    first(found)
}

/// How many bytes from the first on are decimal digits.
#[inline]
pub(super) const fn digits(word: u64) -> usize {
    let value = word ^ repeat(b'0');
    first(value.wrapping_add(repeat(0x76)) | value)
}

/// How many bytes from the first on are spaces.
#[inline]
pub(super) const fn spaces(word: u64) -> usize {
    (word ^ repeat(b' ')).trailing_zeros() as usize / 8
}

/// Is every byte of the word ASCII?
#[inline]
pub(super) const fn is_ascii(word: u64) -> bool {
    word & HIGH == 0
}

/// The word with all but its first `len` bytes zero.
#[inline]
pub(super) const fn keep(word: u64, len: usize) -> u64 {
    if len < 8 {
        word & ((1 << (8 * len)) - 1)
    } else {
        word
    }
}

/// The place of the first byte whose high bit is set, or 8.
#[inline]
const fn first(found: u64) -> usize {
    (found & HIGH).trailing_zeros() as usize / 8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slow(word: u64, holds: impl Fn(u8) -> bool) -> usize {
        word.to_le_bytes()
            .into_iter()
            .take_while(|&byte| holds(byte))
            .count()
    }

    #[test]
    fn every_test_counts_the_leading_bytes_that_pass() {
        let bytes = [
            0, 0x1f, 0x20, b'"', b'#', b'/', b'0', b'9', b':', b'\\', 0x7f, 0x80, 0xff,
        ];
        for a in bytes {
            for b in bytes {
                for c in bytes {
                    let word = u64::from_le_bytes([b'1', a, b, c, b'2', c, b, a]);
                    let is_plain = |byte| byte >= 0x20 && byte != b'"' && byte != b'\\';
                    assert_eq!(plain(word), slow(word, is_plain), "{word:x}");
                    assert_eq!(
                        digits(word),
                        slow(word, |byte| byte.is_ascii_digit()),
                        "{word:x}"
                    );
                    assert_eq!(
                        spaces(word >> 8),
                        slow(word >> 8, |byte| byte == b' '),
                        "{word:x}"
                    );
                }
            }
        }
    }
}
