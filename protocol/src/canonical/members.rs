//! The members of the open objects: their order, and that no name comes twice.

use std::cmp::Ordering;
use std::ops::Range;

use super::error::{CanonicalError, CanonicalErrorKind as Kind};
use super::string::{self, Spelling};
use super::{cursor::Cursor, name, word};

/// The members of all open objects, those of the innermost one last.
pub(super) struct Members<'a> {
    texts: Texts<'a>,
    list: Vec<Member>,
    /// Where the text of an object is put together again in the right order.
    sorted: Vec<u8>,
}

/// One open object's part of [`Members`].
#[derive(Clone, Copy)]
pub(super) struct Object {
    first: usize,
    unescaped: usize,
    /// Do the names ascend so far?
    ascending: bool,
}

struct Member {
    name: Name,
    /// The canonical text of name and value in the output. Empty when it is left out.
    text: Range<usize>,
}

struct Name {
    prefix: u64,
    text: Range<usize>,
    /// Is the text in [`Texts::unescaped`], not in the source?
    is_unescaped: bool,
    /// Where the source has the name, the opening quote included.
    offset: usize,
}

/// Where names are, without escapes.
struct Texts<'a> {
    source: &'a [u8],
    /// Those that the source spells with escapes.
    unescaped: Vec<u8>,
}

impl<'a> Members<'a> {
    pub(super) const fn new(source: &'a [u8]) -> Self {
        let texts = Texts {
            source,
            unescaped: Vec::new(),
        };
        Self {
            texts,
            list: Vec::new(),
            sorted: Vec::new(),
        }
    }

    /// Begins an object.
    pub(super) const fn open(&self) -> Object {
        Object {
            first: self.list.len(),
            unescaped: self.texts.unescaped.len(),
            ascending: true,
        }
    }

    /// Begins a member whose name stands in `quoted`, at `offset` in the source.
    pub(super) fn begin(
        &mut self,
        object: &mut Object,
        offset: usize,
        end: usize,
        spelling: Spelling,
    ) -> Result<(), CanonicalError> {
        let name = self.texts.name(offset, end, spelling)?;
        let previous = self.list.get(object.first..).and_then(<[Member]>::last);
        if previous.is_some_and(|last| self.texts.compare(&last.name, &name) != Ordering::Less) {
            object.ascending = false;
        }
        self.list.push(Member { name, text: 0..0 });
        Ok(())
    }

    /// The unescaped name of the member that began last.
    pub(super) fn last_name(&self) -> &[u8] {
        self.list
            .last()
            .map_or(&[], |member| self.texts.text(&member.name))
    }

    /// Ends the member that began last: this is its text in the output.
    pub(super) fn end(&mut self, text: Range<usize>) {
        if let Some(member) = self.list.last_mut() {
            member.text = text;
        }
    }

    /// Ends an object whose members fill the output from `start` on, and puts them in order.
    pub(super) fn close(
        &mut self,
        object: Object,
        start: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), CanonicalError> {
        if !object.ascending {
            self.sort(object.first)?;
            self.rewrite(object.first, start, out);
        }
        self.list.truncate(object.first);
        self.texts.unescaped.truncate(object.unescaped);
        Ok(())
    }

    fn sort(&mut self, first: usize) -> Result<(), CanonicalError> {
        let members = self.list.get_mut(first..).unwrap_or_default();
        members.sort_unstable_by(|a, b| {
            self.texts
                .compare(&a.name, &b.name)
                .then(a.name.offset.cmp(&b.name.offset))
        });
        let pairs = members.iter().zip(members.iter().skip(1));
        let repeated = pairs
            .filter(|(a, b)| self.texts.compare(&a.name, &b.name) == Ordering::Equal)
            .map(|(_, b)| b.name.offset)
            .min();
        match repeated {
            Some(offset) => Err(Kind::DuplicateName.at(offset)),
            None => Ok(()),
        }
    }

    fn rewrite(&mut self, first: usize, start: usize, out: &mut Vec<u8>) {
        self.sorted.clear();
        for member in self.list.get(first..).unwrap_or_default() {
            let text = out.get(member.text.clone()).unwrap_or_default();
            if !text.is_empty() {
                self.sorted.extend_from_slice(text);
                self.sorted.push(b',');
            }
        }
        self.sorted.pop();
        out.truncate(start);
        out.extend_from_slice(&self.sorted);
    }
}

impl Texts<'_> {
    /// The name that stands from `offset` to `end` in the source, quotes included.
    fn name(
        &mut self,
        offset: usize,
        end: usize,
        spelling: Spelling,
    ) -> Result<Name, CanonicalError> {
        let inside = offset + 1..end - 1;
        let is_unescaped = spelling != Spelling::Plain;
        let text = if is_unescaped {
            let start = self.unescaped.len();
            let quoted = self.source.get(inside).unwrap_or_default();
            string::push_unescaped(quoted, &mut self.unescaped)?;
            start..self.unescaped.len()
        } else {
            inside
        };
        let mut name = Name {
            prefix: 0,
            text,
            is_unescaped,
            offset,
        };
        let bytes = self.home(&name).get(name.text.start..).unwrap_or_default();
        name.prefix = name::prefix(word::keep(Cursor::new(bytes).word(), name.text.len()));
        Ok(name)
    }

    fn home(&self, name: &Name) -> &[u8] {
        if name.is_unescaped {
            &self.unescaped
        } else {
            self.source
        }
    }

    fn text(&self, name: &Name) -> &[u8] {
        self.home(name).get(name.text.clone()).unwrap_or_default()
    }

    #[inline]
    fn compare(&self, a: &Name, b: &Name) -> Ordering {
        let prefixes = a.prefix.cmp(&b.prefix);
        prefixes.then_with(|| name::compare(self.text(a), self.text(b)))
    }
}
