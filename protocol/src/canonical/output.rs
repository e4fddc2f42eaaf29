//! The canonical text while it grows.

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
        let run = self.source.get(self.run..at).unwrap_or_default();
        self.text.extend_from_slice(run);
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
