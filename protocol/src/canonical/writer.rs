//! Writes the canonical text of any acceptable body, in one pass.
//!
//! Values are appended to the output as they come. What the selection leaves out is cut off again
//! as soon as it has been read, and when an object ends, its members are put in order there.
//! There is no recursion: the open arrays and objects are a list of at most [`DEPTH_MAX`].

use super::DEPTH_MAX;
use super::cursor::Cursor;
use super::error::{CanonicalError, CanonicalErrorKind as Kind};
use super::members::{Members, Object};
use super::number;
use super::selection::{Reach, Selection};
use super::string::{self, Spelling};

pub(super) struct Writer<'a, 's> {
    cursor: Cursor<'a>,
    selection: &'s Selection,
    out: Vec<u8>,
    levels: Vec<Level<'s>>,
    members: Members<'a>,
    values: Vec<Option<Vec<u8>>>,
}

/// An array or object whose end has not come yet.
struct Level<'s> {
    children: Children,
    reach: Reach<'s>,
    /// Where the text of the first child begins in the output.
    start: usize,
    /// Where the last child begins, the comma before it included.
    child: usize,
    /// Where the last child that is kept ends.
    end: usize,
}

enum Children {
    /// With the index of the next element.
    Elements(usize),
    Members(Object),
}

/// What comes after a step of the reading.
enum Step<'s> {
    /// The first byte of a value, that of a child.
    Child(Reach<'s>),
    /// What follows a complete value. Is it kept?
    Complete(bool),
}

impl<'a, 's> Writer<'a, 's> {
    /// A writer for `source`, which is UTF-8.
    pub(super) fn new(source: &'a [u8], selection: &'s Selection) -> Self {
        Self {
            cursor: Cursor::new(source),
            selection,
            out: Vec::with_capacity(source.len()),
            levels: Vec::new(),
            members: Members::new(source),
            values: Vec::new(),
        }
    }

    /// The canonical text of the selected values.
    pub(super) fn text(mut self) -> Result<Vec<u8>, CanonicalError> {
        if self.document()? {
            Ok(self.out)
        } else {
            Ok(b"null".to_vec())
        }
    }

    /// The canonical text at each of the `count` places of [`Selection::at`].
    pub(super) fn values(mut self, count: usize) -> Result<Vec<Option<Vec<u8>>>, CanonicalError> {
        self.values = vec![None; count];
        self.document()?;
        Ok(self.values)
    }

    /// Writes everything. Is the root kept?
    fn document(&mut self) -> Result<bool, CanonicalError> {
        self.cursor.skip_whitespace();
        if self.cursor.peek().is_none() {
            return Err(Kind::Empty.at(self.cursor.at()));
        }
        let mut step = Step::Child(self.selection.root());
        loop {
            step = match step {
                Step::Child(reach) => self.value(reach)?,
                Step::Complete(kept) if self.levels.is_empty() => return self.finish(kept),
                Step::Complete(kept) => self.follow(kept)?,
            }
        }
    }

    fn finish(&mut self, kept: bool) -> Result<bool, CanonicalError> {
        self.cursor.skip_whitespace();
        match self.cursor.peek() {
            Some(_) => Err(Kind::TrailingContent.at(self.cursor.at())),
            None => Ok(kept),
        }
    }

    /// Writes the scalar that is next, or opens the array or object.
    fn value(&mut self, reach: Reach<'s>) -> Result<Step<'s>, CanonicalError> {
        let start = self.out.len();
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
        self.found(reach, start);
        Ok(Step::Complete(reach.selected))
    }

    fn literal(&mut self, text: &[u8]) -> Result<(), CanonicalError> {
        for &byte in text {
            if !self.cursor.eat(byte) {
                return Err(self.cursor.unexpected());
            }
        }
        self.out.extend_from_slice(text);
        Ok(())
    }

    fn number(&mut self) -> Result<(), CanonicalError> {
        let number = number::scan(&mut self.cursor)?;
        if number.is_canonical() {
            self.out.extend_from_slice(number.spelled);
        } else {
            number.push_canonical(&mut self.out);
        }
        Ok(())
    }

    /// Writes the string whose opening quote is next.
    fn string(&mut self) -> Result<Spelling, CanonicalError> {
        let start = self.cursor.at();
        self.cursor.next();
        let spelling = string::scan(&mut self.cursor)?;
        let quoted = self.cursor.since(start);
        match (spelling, quoted) {
            (Spelling::Loose, [_, inside @ .., _]) => string::push_minimal(inside, &mut self.out)?,
            _ => self.out.extend_from_slice(quoted),
        }
        Ok(spelling)
    }

    fn open(&mut self, reach: Reach<'s>, children: Children) -> Result<Step<'s>, CanonicalError> {
        if self.levels.len() == DEPTH_MAX {
            return Err(Kind::TooDeep.at(self.cursor.at()));
        }
        self.out.extend(self.cursor.next());
        let start = self.out.len();
        let level = Level {
            children,
            reach,
            start,
            child: start,
            end: start,
        };
        let close = level.close();
        self.levels.push(level);
        self.cursor.skip_whitespace();
        if self.cursor.eat(close) {
            self.close()
        } else {
            self.child()
        }
    }

    /// Goes on behind a complete child of the innermost level.
    fn follow(&mut self, kept: bool) -> Result<Step<'s>, CanonicalError> {
        let close = self.end_child(kept);
        self.cursor.skip_whitespace();
        if self.cursor.eat(b',') {
            self.cursor.skip_whitespace();
            return self.child();
        }
        match close {
            Some(close) if self.cursor.eat(close) => self.close(),
            _ => Err(self.cursor.unexpected()),
        }
    }

    /// Begins a child of the innermost level: writes the comma and the name, if it has one.
    fn child(&mut self) -> Result<Step<'s>, CanonicalError> {
        let Some(level) = self.levels.last_mut() else {
            return Err(self.cursor.unexpected());
        };
        level.child = self.out.len();
        if level.child > level.start {
            self.out.push(b',');
        }
        match &mut level.children {
            Children::Elements(index) => {
                let reach = level.reach.element(*index);
                *index += 1;
                Ok(Step::Child(reach))
            }
            Children::Members(_) => self.member(),
        }
    }

    fn member(&mut self) -> Result<Step<'s>, CanonicalError> {
        if self.cursor.peek() != Some(b'"') {
            return Err(self.cursor.unexpected());
        }
        let offset = self.cursor.at();
        let spelling = self.string()?;
        let end = self.cursor.at();
        self.cursor.skip_whitespace();
        let colon = self.cursor.eat(b':');
        let Some(Level {
            children: Children::Members(object),
            reach,
            ..
        }) = self.levels.last_mut()
        else {
            return Err(self.cursor.unexpected());
        };
        if !colon {
            return Err(self.cursor.unexpected());
        }
        self.out.push(b':');
        self.cursor.skip_whitespace();
        self.members.begin(object, offset, end, spelling)?;
        Ok(Step::Child(reach.member(self.members.last_name())))
    }

    /// Keeps the last child of the innermost level, or cuts it off.
    /// Returns what closes the level.
    fn end_child(&mut self, kept: bool) -> Option<u8> {
        let level = self.levels.last_mut()?;
        if kept {
            level.end = self.out.len();
        } else {
            self.out.truncate(level.child);
        }
        let start = level.child + usize::from(level.child > level.start);
        match level.children {
            Children::Members(_) if kept => self.members.end(start..level.end),
            Children::Elements(_) if !kept && level.reach.is_partial() => {
                self.out.extend_from_slice(if start > level.child {
                    b",null"
                } else {
                    b"null"
                });
            }
            _ => {}
        }
        Some(level.close())
    }

    /// Ends the innermost level, whose closing bracket has been read.
    fn close(&mut self) -> Result<Step<'s>, CanonicalError> {
        let Some(level) = self.levels.pop() else {
            return Err(self.cursor.unexpected());
        };
        self.out.truncate(level.end);
        let close = level.close();
        if let Children::Members(object) = level.children {
            self.members.close(object, level.start, &mut self.out)?;
        }
        self.out.push(close);
        self.found(level.reach, level.start - 1);
        Ok(Step::Complete(
            level.reach.selected || level.end > level.start,
        ))
    }

    /// Notes the value that has just been written from `start` on, if a pointer names it.
    fn found(&mut self, reach: Reach<'s>, start: usize) {
        for &place in reach.places() {
            let text = self.out.get(start..).map(<[u8]>::to_vec);
            if let Some(value) = self.values.get_mut(place) {
                *value = text;
            }
        }
    }
}

impl Level<'_> {
    const fn close(&self) -> u8 {
        match self.children {
            Children::Elements(_) => b']',
            Children::Members(_) => b'}',
        }
    }
}
