//! The canonical text while it grows.

use std::ops::Range;

/// Text that has been written, and behind it a run of the source that is canonical as it stands
/// and has not been copied yet. `at` is always the end of that run: the place of the cursor.
pub(super) struct Output<'a> {
    source: &'a [u8],
    pub(super) text: Vec<u8>,
    /// Where the run begins in the source.
    run: usize,
}

impl<'a> Output<'a> {
    pub(super) fn new(source: &'a [u8]) -> Self {
        let text = Vec::with_capacity(source.len());
        Self {
            source,
            text,
            run: 0,
        }
    }

    /// The length of the text and the run together.
    #[inline]
    pub(super) const fn len(&self, at: usize) -> usize {
        self.text.len() + at.saturating_sub(self.run)
    }

    /// Copies the run into the text.
    #[inline]
    pub(super) fn flush(&mut self, at: usize) {
        push(self.source, self.run..at, &mut self.text);
        self.run = at;
    }

    /// Begins a new run at `at`: what stands before it in the source has been dealt with.
    #[inline]
    pub(super) const fn resume(&mut self, at: usize) {
        self.run = at;
    }

    /// Cuts everything off behind `len`.
    pub(super) fn cut(&mut self, len: usize, at: usize) {
        match len.checked_sub(self.text.len()) {
            Some(kept) => self.flush(self.run + kept),
            None => self.text.truncate(len),
        }
        self.run = at;
    }
}

/// The most bytes of a part that is copied without asking how long it is.
const SHORT: usize = 32;

/// Appends a part of `source`.
///
/// Most parts are short. Those are copied with too much behind them, which is cut off again: that
/// takes a few instructions, where a copy of the exact length would be a call and a wrong guess.
#[inline]
pub(super) fn push(source: &[u8], part: Range<usize>, text: &mut Vec<u8>) {
    let more = source
        .get(part.start..)
        .unwrap_or_default()
        .first_chunk::<SHORT>();
    match more {
        Some(more) if part.len() <= SHORT => {
            let len = text.len() + part.len();
            text.extend_from_slice(more);
            text.truncate(len);
        }
        _ => text.extend_from_slice(source.get(part).unwrap_or_default()),
    }
}
