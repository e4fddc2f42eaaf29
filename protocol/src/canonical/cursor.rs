//! A place in the source, and the few steps from there.

use super::block::{self, Block};
use super::error::{CanonicalError, CanonicalErrorKind as Kind};

/// Reads the source from the front.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    source: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) const fn new(source: &'a [u8]) -> Self {
        Self { source, at: 0 }
    }

    /// The offset of the next byte.
    #[inline]
    pub(super) const fn at(&self) -> usize {
        self.at
    }

    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        self.source.get(self.at).copied()
    }

    /// The source from here on.
    #[inline]
    pub(super) fn rest(&self) -> &'a [u8] {
        self.source.get(self.at..).unwrap_or_default()
    }

    /// The source from `start` up to here.
    #[inline]
    pub(super) fn since(&self, start: usize) -> &'a [u8] {
        self.source.get(start..self.at).unwrap_or_default()
    }

    /// A part of the source.
    pub(super) fn part(&self, start: usize, end: usize) -> &'a [u8] {
        self.source.get(start..end).unwrap_or_default()
    }

    /// Steps over the next byte, whatever it is.
    #[inline]
    pub(super) fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    /// Is a comma next, and then what begins a number?
    #[inline]
    pub(super) fn is_next_number(&self) -> bool {
        matches!(self.rest().first_chunk(), Some([b',', b'-' | b'0'..=b'9']))
    }

    /// Steps over `byte` if it is next.
    #[inline]
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        if self.peek() == Some(byte) {
            self.at += 1;
            return true;
        }
        false
    }

    /// Steps over `text` if it is next.
    #[inline]
    pub(super) fn eat_text(&mut self, text: &[u8]) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    /// Steps over bytes that the caller has looked at.
    #[inline]
    pub(super) fn skip(&mut self, count: usize) {
        self.at += count;
    }

    /// Steps to the next quote, backslash or control character, or to the end.
    #[inline]
    pub(super) fn skip_plain(&mut self) {
        self.skip_until(Block::special);
    }

    /// As [`Self::skip_plain`], for what is expected to be long.
    #[inline]
    pub(super) fn skip_long_plain(&mut self) {
        const TWICE: usize = 2 * block::LEN;
        while let Some(bytes) = self.rest().first_chunk::<TWICE>() {
            match Block::pair(bytes, Block::special) {
                0 => self.at += TWICE,
                found => {
                    self.at += found.trailing_zeros() as usize;
                    return;
                }
            }
        }
        self.skip_plain();
    }

    /// Steps over decimal digits.
    #[inline]
    pub(super) fn skip_digits(&mut self) {
        self.skip_until(Block::other_than_digits);
    }

    /// Steps over white space (RFC 8259, section 2).
    #[inline]
    pub(super) fn skip_whitespace(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
            self.skip_until(Block::other_than_spaces);
        }
    }

    /// Steps to the next byte that the test finds. Every test finds a zero, so that the
    /// zeros behind the end of the source stop it.
    #[inline]
    fn skip_until(&mut self, test: impl Fn(Block) -> u32) {
        loop {
            match test(self.block()) {
                0 => self.at += block::LEN,
                found => {
                    self.at += found.trailing_zeros() as usize;
                    return;
                }
            }
        }
    }

    /// The next bytes, with zeros behind the end of the source.
    #[inline]
    fn block(&self) -> Block {
        match self.rest().first_chunk() {
            Some(bytes) => Block::new(bytes),
            None => last_block(self.rest()),
        }
    }

    /// The next eight bytes, the first one lowest, with zeros behind the end of the source.
    #[inline]
    pub(super) fn word(&self) -> u64 {
        let rest = self.rest();
        match rest.first_chunk() {
            Some(bytes) => u64::from_le_bytes(*bytes),
            None => last_word(rest),
        }
    }

    /// The error for a place where the grammar allows something else.
    #[cold]
    pub(super) fn unexpected(&self) -> CanonicalError {
        let kind = match self.peek() {
            Some(_) => Kind::UnexpectedByte,
            None => Kind::UnexpectedEnd,
        };
        kind.at(self.at)
    }
}

#[cold]
fn last_block(rest: &[u8]) -> Block {
    let mut bytes = [0; block::LEN];
    bytes
        .iter_mut()
        .zip(rest)
        .for_each(|(to, from)| *to = *from);
    Block::new(&bytes)
}

#[cold]
fn last_word(rest: &[u8]) -> u64 {
    rest.iter()
        .rfold(0, |word, &byte| word << 8 | u64::from(byte))
}
