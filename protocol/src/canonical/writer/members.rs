//! The members of the open objects: their order, and that no name comes twice.

use std::cmp::Ordering;
use std::ops::Range;

use super::output;
use crate::canonical::cursor::Cursor;
use crate::canonical::error::{CanonicalError, CanonicalErrorKind as Kind};
use crate::canonical::name;
use crate::canonical::string::{self, Spelling};

/// The members of all open objects, those of the innermost one last.
pub(super) struct Members<'a> {
    source: &'a [u8],
    list: Vec<Member>,
    /// The names that the source spells with escapes, without them.
    unescaped: Vec<u8>,
    /// The members of one object by prefix and place in the list, to be sorted.
    order: Vec<(u64, usize)>,
    /// The text of an object in the order of the source.
    unsorted: Vec<u8>,
}

/// One open object's part of [`Members`].
#[derive(Clone, Copy)]
pub(super) struct Object {
    first: usize,
    unescaped: usize,
    /// Do the names ascend so far?
    pub(super) ascending: bool,
}

struct Member {
    /// Where the source has the name, its opening quote first.
    offset: usize,
    /// The name without escapes, in the source or in [`Members::unescaped`].
    name: Range<usize>,
    prefix: u64,
    is_unescaped: bool,
    /// The canonical text of name and value in the output. Empty when it is left out.
    text: Range<usize>,
}

impl<'a> Members<'a> {
    pub(super) const fn new(source: &'a [u8]) -> Self {
        Self {
            source,
            list: Vec::new(),
            unescaped: Vec::new(),
            order: Vec::new(),
            unsorted: Vec::new(),
        }
    }

    /// Begins an object.
    pub(super) const fn open(&self) -> Object {
        Object {
            first: self.list.len(),
            unescaped: self.unescaped.len(),
            ascending: true,
        }
    }

    /// Ends an object.
    pub(super) fn close(&mut self, object: Object) {
        self.list.truncate(object.first);
        self.unescaped.truncate(object.unescaped);
    }

    /// Begins a member whose name, quotes included, is at `quoted` in the source, and whose text
    /// begins at `start` in the output.
    #[inline]
    pub(super) fn begin(
        &mut self,
        object: &mut Object,
        quoted: Range<usize>,
        spelling: Spelling,
        start: usize,
    ) -> Result<(), CanonicalError> {
        let offset = quoted.start;
        let inside = quoted.start + 1..quoted.end - 1;
        let is_unescaped = spelling != Spelling::Plain;
        let name = if is_unescaped {
            self.unescape(inside)?
        } else {
            inside
        };
        let home = if is_unescaped {
            &self.unescaped
        } else {
            self.source
        };
        let word = Cursor::new(home.get(name.start..).unwrap_or_default()).word();
        let prefix = name::prefix(word, name.len());
        let member = Member {
            offset,
            name,
            prefix,
            is_unescaped,
            text: start..start,
        };
        if let Some(last) = self.list.get(object.first..).and_then(<[_]>::last) {
            object.ascending &= self.compare(last, &member) == Ordering::Less;
        }
        self.list.push(member);
        Ok(())
    }

    #[cold]
    fn unescape(&mut self, inside: Range<usize>) -> Result<Range<usize>, CanonicalError> {
        let start = self.unescaped.len();
        let spelled = self.source.get(inside).unwrap_or_default();
        string::push_unescaped(spelled, &mut self.unescaped)?;
        Ok(start..self.unescaped.len())
    }

    /// The unescaped name of the member that began last.
    pub(super) fn last_name(&self) -> &[u8] {
        self.list.last().map_or(&[], |member| self.name(member))
    }

    /// Keeps the member that began last: its text ends here in the output.
    #[inline]
    pub(super) fn end(&mut self, end: usize) {
        if let Some(member) = self.list.last_mut() {
            member.text.end = end;
        }
    }

    /// Puts the members of an object, which fill the text from `start` on, in order.
    pub(super) fn sort(
        &mut self,
        object: Object,
        start: usize,
        text: &mut Vec<u8>,
    ) -> Result<(), CanonicalError> {
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        let members = self.list.iter().enumerate().skip(object.first);
        order.extend(members.map(|(place, member)| (member.prefix, place)));
        order.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| self.compare_places(a.1, b.1)));
        let repeated = self.first_repeated(&order);
        self.rewrite(&order, start, text);
        self.order = order;
        repeated.map_or(Ok(()), |offset| Err(Kind::DuplicateName.at(offset)))
    }

    /// The offset of the first name that its object has already.
    fn first_repeated(&self, order: &[(u64, usize)]) -> Option<usize> {
        let pairs = order.iter().zip(order.iter().skip(1));
        let repeated = pairs.filter_map(|(&(before, a), &(after, b))| {
            let [a, b] = [a, b].map(|place| self.list.get(place));
            let same = before == after && self.name(a?) == self.name(b?);
            same.then_some(b?.offset)
        });
        repeated.min()
    }

    fn rewrite(&mut self, order: &[(u64, usize)], start: usize, text: &mut Vec<u8>) {
        // Each member has a comma behind it, now that the last one has.
        text.push(b',');
        self.unsorted.clear();
        self.unsorted
            .extend_from_slice(text.get(start..).unwrap_or_default());
        text.truncate(start);
        let members = order.iter().filter_map(|&(_, place)| self.list.get(place));
        for Range { start: from, end } in members.map(|member| member.text.clone()) {
            if from < end {
                output::push(&self.unsorted, from - start..end - start + 1, text);
            }
        }
        if text.len() > start {
            text.pop();
        }
    }

    fn name(&self, member: &Member) -> &[u8] {
        let home = if member.is_unescaped {
            &self.unescaped
        } else {
            self.source
        };
        home.get(member.name.clone()).unwrap_or_default()
    }

    /// Compares by name, and by place where two are the same.
    #[cold]
    fn compare_places(&self, a: usize, b: usize) -> Ordering {
        let names = [a, b].map(|place| self.list.get(place).map(|member| self.name(member)));
        match names {
            [Some(before), Some(after)] => name::compare(before, after).then(a.cmp(&b)),
            _ => a.cmp(&b),
        }
    }

    #[inline]
    fn compare(&self, a: &Member, b: &Member) -> Ordering {
        let prefixes = a.prefix.cmp(&b.prefix);
        prefixes.then_with(|| name::compare(self.name(a), self.name(b)))
    }
}
