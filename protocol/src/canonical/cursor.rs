//! A place in the source, and the few steps from there.

use super::error::{CanonicalError, CanonicalErrorKind as Kind};
use super::word;

/// Reads the source from the front. Never goes beyond its end.
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

    /// Steps over `byte` if it is next.
    #[inline]
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
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

    /// Steps over the next byte, whatever it is.
    #[inline]
    pub(super) fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    #[inline]
    pub(super) fn rest(&self) -> &'a [u8] {
        self.source.get(self.at..).unwrap_or_default()
    }

    /// The bytes from `start` up to here.
    #[inline]
    pub(super) fn since(&self, start: usize) -> &'a [u8] {
        self.source.get(start..self.at).unwrap_or_default()
    }

    /// The next eight bytes, with zeros beyond the end of the source.
    #[inline]
    pub(super) fn word(&self) -> u64 {
        let rest = self.rest();
        match rest.first_chunk() {
            Some(bytes) => u64::from_le_bytes(*bytes),
            None => rest
                .iter()
                .rfold(0, |word, &byte| word << 8 | u64::from(byte)),
        }
    }

    /// Steps to the next quote, backslash or control character, or to the end.
    #[inline]
    pub(super) fn skip_plain(&mut self) {
        self.skip(word::plain);
    }

    /// Steps over decimal digits and returns them.
    #[inline]
    pub(super) fn digits(&mut self) -> &'a [u8] {
        let start = self.at;
        self.skip(word::digits);
        self.since(start)
    }

    /// Steps over white space (RFC 8259, section 2).
    #[inline]
    pub(super) fn skip_whitespace(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
            self.skip(word::spaces);
        }
    }

    /// Steps over whole words while all of their eight bytes pass, and into the last one.
    /// No test passes a zero byte, so this ends at the end of the source at the latest.
    #[inline]
    fn skip(&mut self, passing: impl Fn(u64) -> usize) {
        loop {
            let count = passing(self.word());
            self.at += count;
            if count < 8 {
                return;
            }
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
