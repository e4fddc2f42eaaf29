//! The common case: a body that is canonical already.
//!
//! One scan without errors, copies or white space between tokens. It accepts nothing that the
//! [`writer`](super::writer) would not return unchanged. Whatever else it meets, it gives up and
//! leaves the verdict to the writer. Names have to ascend, so duplicates need no search.

use std::cmp::Ordering;

use super::DEPTH_MAX;
use super::cursor::Cursor;
use super::string::{self, Spelling};
use super::{name, number, word};

/// The canonical text, if that is what the source holds between optional white space.
pub(super) fn find(source: &[u8]) -> Option<&[u8]> {
    let mut cursor = Cursor::new(source);
    cursor.skip_whitespace();
    let start = cursor.at();
    let mut cursor = Scan {
        cursor,
        outer: Vec::with_capacity(8),
        open: Open::Nothing,
    }
    .run()?;
    let text = cursor.since(start);
    cursor.skip_whitespace();
    cursor.peek().is_none().then_some(text)
}

struct Scan<'a> {
    cursor: Cursor<'a>,
    outer: Vec<Open<'a>>,
    open: Open<'a>,
}

/// The innermost open value.
#[derive(Clone, Copy)]
enum Open<'a> {
    Nothing,
    Array,
    /// With the name of the member that is being read.
    Object(Name<'a>),
}

/// A name without escapes.
#[derive(Clone, Copy)]
struct Name<'a> {
    prefix: u64,
    text: &'a [u8],
}

impl Name<'_> {
    #[inline]
    fn is_before(&self, other: &Self) -> bool {
        match self.prefix.cmp(&other.prefix) {
            Ordering::Less => true,
            Ordering::Greater => false,
            Ordering::Equal => name::compare(self.text, other.text) == Ordering::Less,
        }
    }
}

impl<'a> Scan<'a> {
    /// Steps over one canonical value.
    fn run(mut self) -> Option<Cursor<'a>> {
        loop {
            let complete = self.begin()?;
            if complete && !self.end()? {
                return Some(self.cursor);
            }
        }
    }

    /// Begins the value that is next. Is it complete already?
    #[inline]
    fn begin(&mut self) -> Option<bool> {
        match self.cursor.peek()? {
            b'"' => {
                self.cursor.next();
                let spelling = string::scan(&mut self.cursor).ok()?;
                (spelling != Spelling::Loose).then_some(true)
            }
            b'-' | b'0'..=b'9' => number::scan(&mut self.cursor)
                .ok()?
                .is_canonical()
                .then_some(true),
            b'{' => self.begin_object(),
            b'[' => self.begin_array(),
            b't' => self.cursor.eat_text(b"true").then_some(true),
            b'f' => self.cursor.eat_text(b"false").then_some(true),
            b'n' => self.cursor.eat_text(b"null").then_some(true),
            _ => None,
        }
    }

    #[inline]
    fn begin_object(&mut self) -> Option<bool> {
        self.open_one()?;
        if self.cursor.eat(b'}') {
            return Some(true);
        }
        self.outer.push(self.open);
        self.open = Open::Object(self.name()?);
        Some(false)
    }

    #[inline]
    fn begin_array(&mut self) -> Option<bool> {
        self.open_one()?;
        if self.cursor.eat(b']') {
            return Some(true);
        }
        self.outer.push(self.open);
        self.open = Open::Array;
        Some(false)
    }

    /// Steps over a bracket, if one more is allowed.
    fn open_one(&mut self) -> Option<()> {
        self.cursor.next();
        (self.outer.len() < DEPTH_MAX).then_some(())
    }

    /// Steps over what follows a complete value, up to the next one. Is there one?
    #[inline]
    fn end(&mut self) -> Option<bool> {
        loop {
            let more = self.cursor.eat(b',');
            match self.open {
                Open::Nothing => return (!more).then_some(false),
                Open::Array if more => return Some(true),
                Open::Object(last) if more => {
                    let name = self.name()?;
                    self.open = Open::Object(name);
                    return last.is_before(&name).then_some(true);
                }
                Open::Array => self.cursor.eat(b']').then_some(())?,
                Open::Object(_) => self.cursor.eat(b'}').then_some(())?,
            }
            self.open = self.outer.pop()?;
        }
    }

    /// Steps over a member's name and its colon.
    #[inline]
    fn name(&mut self) -> Option<Name<'a>> {
        self.cursor.eat(b'"').then_some(())?;
        let start = self.cursor;
        self.cursor.skip_plain();
        let text = self.cursor.since(start.at());
        let prefix = name::prefix(word::keep(start.word(), text.len()));
        self.cursor
            .eat_text(b"\":")
            .then_some(Name { prefix, text })
    }
}
