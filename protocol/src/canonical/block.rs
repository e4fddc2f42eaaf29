//! Sixteen bytes at a time, by the vector instructions that every x86-64, `AArch64` and
//! WebAssembly engine has.
//!
//! Each test returns a bit mask whose lowest bit stands for the first byte.

use wide::u8x16;

/// The bytes of a [`Block`].
pub(super) const LEN: usize = 16;

/// Bytes that are next to each other in the source.
#[derive(Clone, Copy)]
pub(super) struct Block(u8x16);

impl Block {
    #[inline]
    pub(super) fn new(bytes: &[u8; LEN]) -> Self {
        Self(u8x16::new(*bytes))
    }

    /// The masks of two blocks that are next to each other, as one.
    #[inline]
    pub(super) fn pair(bytes: &[u8; 2 * LEN], test: impl Fn(Self) -> u32) -> u32 {
        const ZEROS: &[u8; LEN] = &[0; LEN];
        let low = Self::new(bytes.first_chunk().unwrap_or(ZEROS));
        let high = Self::new(bytes.last_chunk().unwrap_or(ZEROS));
        test(low) | test(high) << LEN
    }

    /// The bytes that end a plain run inside a JSON string: quotes, backslashes and controls.
    #[inline]
    pub(super) fn special(self) -> u32 {
        let quotes = self.0.simd_eq(u8x16::splat(b'"'));
        let backslashes = self.0.simd_eq(u8x16::splat(b'\\'));
        let controls = self.0.min(u8x16::splat(0x1f)).simd_eq(self.0);
        (quotes | backslashes | controls).to_bitmask()
    }

    /// The bytes that are not decimal digits.
    #[inline]
    pub(super) fn other_than_digits(self) -> u32 {
        let values = self.0 - u8x16::splat(b'0');
        values.max(u8x16::splat(10)).simd_eq(values).to_bitmask()
    }

    /// The bytes that are neither digits nor minus, point or slash, which are next to each other,
    /// and the bytes that are one of these three.
    #[inline]
    pub(super) fn number_marks(self) -> (u32, u32) {
        let values = self.0 - u8x16::splat(b'-');
        let behind = values.max(u8x16::splat(13)).simd_eq(values);
        let signs = values.min(u8x16::splat(2)).simd_eq(values);
        (behind.to_bitmask(), signs.to_bitmask())
    }

    /// The bytes that are not spaces.
    #[inline]
    pub(super) fn other_than_spaces(self) -> u32 {
        self.0.simd_eq(u8x16::splat(b' ')).to_bitmask() ^ 0xffff
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a test should find: of all bytes, in one place at a time between digits.
    fn assert_finds(test: impl Fn(Block) -> u32, expected: impl Fn(u8) -> bool) {
        for byte in u8::MIN..=u8::MAX {
            for place in 0..LEN {
                let mut bytes = *b"0123456789012345";
                bytes[place] = byte;
                let places = bytes.iter().zip(0..).filter(|(byte, _)| expected(**byte));
                let mask = places.fold(0, |mask, (_, place)| mask | 1 << place);
                assert_eq!(test(Block::new(&bytes)), mask, "{byte:x} at {place}");
            }
        }
    }

    #[test]
    fn every_test_judges_every_byte_in_every_place() {
        assert_finds(Block::special, |byte| {
            byte < 0x20 || byte == b'"' || byte == b'\\'
        });
        assert_finds(Block::other_than_digits, |byte| !byte.is_ascii_digit());
        assert_finds(Block::other_than_spaces, |byte| byte != b' ');
        assert_finds(
            |block| block.number_marks().0,
            |byte| !(b'-'..=b'9').contains(&byte),
        );
        assert_finds(
            |block| block.number_marks().1,
            |byte| (b'-'..=b'/').contains(&byte),
        );
    }
}
