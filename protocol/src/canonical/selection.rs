//! Which parts of a body count: lists of JSON pointers (RFC 6901) to include and to exclude.
//!
//! The canonical text is that of a pruned document, in which every selected value keeps its
//! pointer, so that two documents have one text only if all their selected values are equal:
//! - Kept are the included values (all, when nothing is named) without the excluded ones, and the
//!   objects and arrays on the way to a value that is kept. Exclusion wins.
//! - A member that is left out is gone, name and value.
//! - An element that is left out becomes `null`, so that the elements behind it keep their index;
//!   those behind the last one kept are gone.
//! - When nothing at all is kept, the text is `null`.
//!
//! What is left out must still be JSON: every refusal holds for the whole body. A pointer that
//! points at nothing selects nothing; `-` (RFC 6901, section 4) never points at an element.

use std::collections::BTreeMap;
use std::io::Write as _;

use serde::{Deserialize, Serialize};

use super::pointer::{Pointer, PointerError};

/// What the fingerprint looks at. In JSON it is its two lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Lists", into = "Lists")]
pub struct Selection {
    lists: Lists,
    root: Node,
    /// Is the root included?
    whole: bool,
}

impl Selection {
    /// Everything.
    pub fn whole() -> Self {
        Self {
            lists: Lists::default(),
            root: Node::default(),
            whole: true,
        }
    }

    /// The values at `include` (everything, if there are none) without those at `exclude`.
    pub fn new(include: &[String], exclude: &[String]) -> Result<Self, PointerError> {
        let lists = Lists {
            include: include.to_vec(),
            exclude: exclude.to_vec(),
        };
        let mut selection = Self {
            lists,
            ..Self::whole()
        };
        for text in include {
            selection.whole = false;
            selection.root.at(&Pointer::parse(text)?).included = true;
        }
        for text in exclude {
            selection.root.at(&Pointer::parse(text)?).excluded = true;
        }
        Ok(selection)
    }

    /// The values at `pointers`, each known by its place in the list.
    pub(super) fn at(pointers: &[Pointer]) -> Self {
        let mut selection = Self {
            whole: false,
            ..Self::whole()
        };
        for (place, pointer) in pointers.iter().enumerate() {
            let node = selection.root.at(pointer);
            node.included = true;
            node.places.push(place);
        }
        selection
    }

    /// Is every part of every body selected?
    pub(super) fn is_whole(&self) -> bool {
        (self.whole || self.root.included) && self.root.children.is_empty() && !self.root.excluded
    }

    /// What holds for the whole body.
    pub(super) fn root(&self) -> Reach<'_> {
        Reach {
            node: None,
            selected: self.whole,
        }
        .enter(Some(&self.root))
    }
}

/// The pointers of a selection, as written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Lists {
    include: Vec<String>,
    exclude: Vec<String>,
}

impl TryFrom<Lists> for Selection {
    type Error = PointerError;

    fn try_from(lists: Lists) -> Result<Self, PointerError> {
        Self::new(&lists.include, &lists.exclude)
    }
}

impl From<Selection> for Lists {
    fn from(selection: Selection) -> Self {
        selection.lists
    }
}

/// A place that is named, or that is on the way to one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Node {
    children: BTreeMap<Vec<u8>, Node>,
    included: bool,
    excluded: bool,
    places: Vec<usize>,
}

impl Node {
    /// The node at `pointer` from here, made if need be.
    fn at(&mut self, pointer: &Pointer) -> &mut Self {
        pointer.tokens.iter().fold(self, |node, token| {
            node.children.entry(token.as_bytes().to_vec()).or_default()
        })
    }
}

/// What the selection says about one value of the body.
#[derive(Clone, Copy)]
pub(super) struct Reach<'s> {
    /// Where the pointers have got to, while any of them leads here or further.
    node: Option<&'s Node>,
    /// Is the value selected, but for what is excluded inside it?
    pub(super) selected: bool,
}

impl<'s> Reach<'s> {
    /// Could some of the values inside be selected and others not?
    #[inline]
    pub(super) const fn is_partial(self) -> bool {
        self.node.is_some()
    }

    /// What holds for the member of this name (unescaped).
    #[inline]
    pub(super) fn member(self, name: &[u8]) -> Self {
        match self.node {
            Some(node) => self.enter(node.children.get(name)),
            None => self,
        }
    }

    /// What holds for the element at `index`.
    #[inline]
    pub(super) fn element(self, index: usize) -> Self {
        if self.node.is_none() {
            return self;
        }
        let mut digits = [0; 20];
        let mut free = digits.as_mut_slice();
        // Twenty digits are enough for every index.
        let _ = write!(free, "{index}");
        let len = 20 - free.len();
        self.member(digits.get(..len).unwrap_or_default())
    }

    /// The places in the list of pointers that name this very value.
    pub(super) fn places(self) -> &'s [usize] {
        self.node.map_or(&[], |node| &node.places)
    }

    fn enter(self, node: Option<&'s Node>) -> Self {
        let Some(node) = node else {
            return Self { node, ..self };
        };
        let leads_on = !node.children.is_empty() || !node.places.is_empty();
        Self {
            node: Some(node).filter(|_| leads_on && !node.excluded),
            selected: (self.selected || node.included) && !node.excluded,
        }
    }
}
