//! The arrays and objects that are open while a body is read.

use super::members::Object;
use crate::canonical::selection::Reach;

/// An array or object whose end has not come yet, or the document around them.
pub(super) struct Level<'s> {
    pub(super) children: Children,
    pub(super) reach: Reach<'s>,
    /// Where the first child begins in the output.
    pub(super) start: usize,
    /// Where the last child begins, the comma before it included.
    pub(super) child: usize,
    /// Where the last child that is kept ends.
    pub(super) end: usize,
}

pub(super) enum Children {
    /// The document has one.
    Root,
    /// With the index of the next one.
    Elements(usize),
    Members(Object),
}

impl<'s> Level<'s> {
    pub(super) const fn new(children: Children, reach: Reach<'s>, start: usize) -> Self {
        Self {
            children,
            reach,
            start,
            child: start,
            end: start,
        }
    }

    /// The bracket that ends it. The document has none.
    #[inline]
    pub(super) const fn close(&self) -> Option<u8> {
        match self.children {
            Children::Root => None,
            Children::Elements(_) => Some(b']'),
            Children::Members(_) => Some(b'}'),
        }
    }

    /// Is the value kept that ends here?
    pub(super) const fn is_kept(&self) -> bool {
        self.reach.selected || self.end > self.start
    }

    /// Does an element that is left out leave a `null` in its place?
    pub(super) const fn keeps_places(&self) -> bool {
        matches!(self.children, Children::Elements(_)) && self.reach.is_partial()
    }
}
