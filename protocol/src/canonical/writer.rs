//! Writes the canonical text of any acceptable body, in one pass.
//!
//! What the source spells canonically is copied in runs that are as long as possible. What the
//! selection leaves out is cut off again as soon as it has been read, and when an object ends,
//! its members are put in order. There is no recursion: the open arrays and objects are a list
//! of at most [`DEPTH_MAX`].

mod level;
mod members;
mod output;
mod scalar;

use super::DEPTH_MAX;
use super::cursor::Cursor;
use super::error::{CanonicalError, CanonicalErrorKind as Kind};
use super::selection::{Reach, Selection};

use level::{Children, Level};
use members::Members;
use output::Output;

pub(super) struct Writer<'a, 's> {
    cursor: Cursor<'a>,
    output: Output<'a>,
    members: Members<'a>,
    /// The innermost level.
    open: Level<'s>,
    outer: Vec<Level<'s>>,
    values: Vec<Option<Vec<u8>>>,
}

impl<'a, 's> Writer<'a, 's> {
    /// A writer for `source`, which is UTF-8.
    pub(super) fn new(source: &'a [u8], selection: &'s Selection) -> Self {
        Self {
            cursor: Cursor::new(source),
            output: Output::new(source),
            members: Members::new(source),
            open: Level::new(Children::Root, selection.root(), 0),
            outer: Vec::with_capacity(8),
            values: Vec::new(),
        }
    }

    /// The canonical text of the selected values.
    pub(super) fn text(mut self) -> Result<Vec<u8>, CanonicalError> {
        self.document()?;
        match self.output.text {
            text if text.is_empty() => Ok(b"null".to_vec()),
            text => Ok(text),
        }
    }

    /// The canonical text at each of the `count` places of [`Selection::at`].
    pub(super) fn values(mut self, count: usize) -> Result<Vec<Option<Vec<u8>>>, CanonicalError> {
        self.values = vec![None; count];
        self.document()?;
        Ok(self.values)
    }

    fn document(&mut self) -> Result<(), CanonicalError> {
        self.skip_whitespace();
        if self.cursor.peek().is_none() {
            return Err(Kind::Empty.at(self.cursor.at()));
        }
        loop {
            let reach = self.begin_child()?;
            if let Some(kept) = self.value(reach)?
                && !self.end_child(kept)?
            {
                break;
            }
        }
        self.skip_whitespace();
        match self.cursor.peek() {
            Some(_) => Err(Kind::TrailingContent.at(self.cursor.at())),
            None => Ok(()),
        }
    }

    #[inline]
    fn skip_whitespace(&mut self) {
        if self.cursor.peek().is_some_and(|byte| byte <= b' ') {
            self.leave_whitespace_out();
        }
    }

    /// Ends the run before white space, and begins a new one behind it.
    #[inline(never)]
    fn leave_whitespace_out(&mut self) {
        self.output.flush(self.cursor.at());
        self.cursor.skip_whitespace();
        self.output.resume(self.cursor.at());
    }

    #[inline]
    fn len(&self) -> usize {
        self.output.len(self.cursor.at())
    }

    /// Finds out about the child that is next, and reads its name if it has one.
    #[inline]
    fn begin_child(&mut self) -> Result<Reach<'s>, CanonicalError> {
        match &mut self.open.children {
            Children::Root => Ok(self.open.reach),
            Children::Elements(index) => {
                *index += 1;
                Ok(self.open.reach.element(*index - 1))
            }
            Children::Members(_) => self.name(),
        }
    }

    fn name(&mut self) -> Result<Reach<'s>, CanonicalError> {
        let (offset, start) = (self.cursor.at(), self.len());
        if self.cursor.peek() != Some(b'"') {
            return Err(self.cursor.unexpected());
        }
        let spelling = self.string()?;
        let end = self.cursor.at();
        if let Children::Members(object) = &mut self.open.children {
            self.members.begin(object, offset..end, spelling, start)?;
        }
        self.skip_whitespace();
        if !self.cursor.eat(b':') {
            return Err(self.cursor.unexpected());
        }
        self.skip_whitespace();
        let reach = self.open.reach;
        Ok(if reach.is_partial() {
            reach.member(self.members.last_name())
        } else {
            reach
        })
    }

    /// Reads the value that is next. Is it kept? `None` for an array or object that is open now.
    #[inline]
    fn value(&mut self, reach: Reach<'s>) -> Result<Option<bool>, CanonicalError> {
        let start = self.len();
        match self.cursor.peek() {
            Some(b'"') => {
                self.string()?;
            }
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b'[') => return self.open(reach, Children::Elements(0)),
            Some(b'{') => return self.open(reach, Children::Members(self.members.open())),
            Some(b't') => self.literal(b"true")?,
            Some(b'f') => self.literal(b"false")?,
            Some(b'n') => self.literal(b"null")?,
            _ => return Err(self.cursor.unexpected()),
        }
        self.note(reach, start);
        Ok(Some(reach.selected))
    }

    fn open(
        &mut self,
        reach: Reach<'s>,
        children: Children,
    ) -> Result<Option<bool>, CanonicalError> {
        if self.outer.len() == DEPTH_MAX {
            return Err(Kind::TooDeep.at(self.cursor.at()));
        }
        self.cursor.skip(1);
        let level = Level::new(children, reach, self.len());
        self.outer.push(std::mem::replace(&mut self.open, level));
        self.skip_whitespace();
        if self.cursor.peek() == self.open.close() {
            self.close().map(Some)
        } else {
            Ok(None)
        }
    }

    /// Goes on behind a complete child, and behind all levels that end there with it.
    /// Is there another child?
    #[inline]
    fn end_child(&mut self, mut kept: bool) -> Result<bool, CanonicalError> {
        loop {
            self.keep_child(kept);
            let Some(close) = self.open.close() else {
                self.output.flush(self.cursor.at());
                return Ok(false);
            };
            self.skip_whitespace();
            self.open.child = self.len();
            match self.cursor.peek() {
                Some(b',') => {
                    self.cursor.skip(1);
                    if self.open.child == self.open.start {
                        // All children so far were left out.
                        self.output.resume(self.cursor.at());
                    }
                    self.skip_whitespace();
                    return Ok(true);
                }
                Some(byte) if byte == close => kept = self.close()?,
                _ => return Err(self.cursor.unexpected()),
            }
        }
    }

    /// Keeps the child that is complete now, or cuts it off.
    #[inline]
    fn keep_child(&mut self, kept: bool) {
        if !kept {
            return self.leave_out();
        }
        self.open.end = self.len();
        if let Children::Members(_) = self.open.children {
            self.members.end(self.open.end);
        }
    }

    #[cold]
    fn leave_out(&mut self) {
        let open = &self.open;
        self.output.cut(open.child, self.cursor.at());
        if open.keeps_places() {
            let first = open.child == open.start;
            self.output
                .text
                .extend_from_slice(if first { b"null" } else { b",null" });
        }
    }

    /// Ends the innermost level, whose closing bracket is next. Is it kept?
    fn close(&mut self) -> Result<bool, CanonicalError> {
        let at = self.cursor.at();
        let open = &self.open;
        if open.end < self.output.len(at) {
            self.output.cut(open.end, at);
        }
        if let Children::Members(object) = open.children {
            if !object.ascending {
                self.output.flush(at);
                self.members
                    .sort(object, open.start, &mut self.output.text)?;
            }
            self.members.close(object);
        }
        self.cursor.skip(1);
        let (reach, start, kept) = (open.reach, open.start - 1, open.is_kept());
        self.note(reach, start);
        if let Some(outer) = self.outer.pop() {
            self.open = outer;
        }
        Ok(kept)
    }

    /// Notes the value that has just been read, which begins at `start`, if a pointer names it.
    #[inline]
    fn note(&mut self, reach: Reach<'s>, start: usize) {
        if reach.is_partial() {
            self.note_places(reach.places(), start);
        }
    }

    #[cold]
    fn note_places(&mut self, places: &[usize], start: usize) {
        self.output.flush(self.cursor.at());
        for &place in places {
            let text = self.output.text.get(start..).map(<[u8]>::to_vec);
            if let Some(value) = self.values.get_mut(place) {
                *value = text;
            }
        }
    }
}
