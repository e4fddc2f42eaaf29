//! The common case: a body that is canonical already.
//!
//! One scan without errors, copies or white space between tokens. It accepts nothing that the
//! [`writer`](super::writer) would not return unchanged. Whatever else it meets, it gives up and
//! leaves the verdict to the writer. Names have to ascend, so duplicates need no search.

use std::cmp::Ordering;

use super::DEPTH_MAX;
use super::cursor::Cursor;
use super::string::{self, Spelling};
use super::{name, number};

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
    outer: Vec<Open>,
    open: Open,
}

/// The innermost open value.
#[derive(Clone, Copy)]
enum Open {
    Nothing,
    Array,
    /// With the name of the member that is being read.
    Object(Name),
}

/// A name without escapes, as a part of the source.
#[derive(Clone, Copy)]
struct Name {
    prefix: u64,
    start: usize,
    end: usize,
}

impl Name {
    /// What stands before the first name: no name starts at the first byte.
    const NONE: Self = Self {
        prefix: 0,
        start: 0,
        end: 0,
    };
}

impl<'a> Scan<'a> {
    /// Steps over one canonical value.
    fn run(mut self) -> Option<Cursor<'a>> {
        loop {
            if let Open::Object(last) = self.open {
                let name = self.name()?;
                if last.prefix >= name.prefix && !self.ascends(last, name) {
                    return None;
                }
                self.open = Open::Object(name);
            }
            if self.begin()? && !self.end()? {
                return Some(self.cursor);
            }
        }
    }

    /// Begins the value that is next. Is it complete already?
    #[inline]
    fn begin(&mut self) -> Option<bool> {
        match self.cursor.peek()? {
            b'"' => {
                self.cursor.skip(1);
                let spelling = string::scan(&mut self.cursor).ok()?;
                (spelling != Spelling::Loose).then_some(true)
            }
            b'-' | b'0'..=b'9' => self.numbers(),
            b'{' => self.open(Open::Object(Name::NONE), b'}'),
            b'[' => self.open(Open::Array, b']'),
            b't' => self.cursor.eat_text(b"true").then_some(true),
            b'f' => self.cursor.eat_text(b"false").then_some(true),
            b'n' => self.cursor.eat_text(b"null").then_some(true),
            _ => None,
        }
    }

    /// Steps over a number, and in an array over all numbers that follow it.
    #[inline]
    fn numbers(&mut self) -> Option<bool> {
        let is_array = matches!(self.open, Open::Array);
        loop {
            if !self.number() {
                return None;
            }
            if !(is_array && self.cursor.is_next_number()) {
                return Some(true);
            }
            self.cursor.skip(1);
        }
    }

    #[inline]
    fn number(&mut self) -> bool {
        number::skip_common(&mut self.cursor) || self.rare_number()
    }

    #[cold]
    fn rare_number(&mut self) -> bool {
        number::scan(&mut self.cursor).is_ok_and(|number| number.is_canonical())
    }

    /// Steps over an opening bracket, and over the closing one if it follows at once.
    #[inline]
    fn open(&mut self, open: Open, close: u8) -> Option<bool> {
        if self.outer.len() == DEPTH_MAX {
            return None;
        }
        self.cursor.skip(1);
        match self.cursor.peek()? {
            byte if byte == close => {
                self.cursor.skip(1);
                return Some(true);
            }
            // A pretty-printed body is given up before anything is allocated for it.
            byte if byte <= b' ' => return None,
            _ => {}
        }
        self.outer.push(self.open);
        self.open = open;
        Some(false)
    }

    /// Steps over what follows a complete value, up to the next one. Is there one?
    #[inline]
    fn end(&mut self) -> Option<bool> {
        loop {
            let close = match self.open {
                Open::Nothing => return Some(false),
                Open::Array => b']',
                Open::Object(_) => b'}',
            };
            if self.cursor.eat(b',') {
                return Some(true);
            }
            if !self.cursor.eat(close) {
                return None;
            }
            self.open = self.outer.pop()?;
        }
    }

    /// Steps over a member's name and its colon.
    #[inline]
    fn name(&mut self) -> Option<Name> {
        if !self.cursor.eat(b'"') {
            return None;
        }
        let (word, start) = (self.cursor.word(), self.cursor.at());
        self.cursor.skip_plain();
        let end = self.cursor.at();
        let prefix = name::prefix(word, end - start);
        let ended = self.cursor.eat(b'"') && self.cursor.eat(b':');
        ended.then_some(Name { prefix, start, end })
    }

    /// Does `next` come behind `last`? For prefixes that don't tell.
    #[cold]
    fn ascends(&self, last: Name, next: Name) -> bool {
        let [before, after] = [last, next].map(|name| self.cursor.part(name.start, name.end));
        last.start == 0 || name::compare(before, after) == Ordering::Less
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_text_is_found_between_white_space() {
        for text in [
            "0",
            r#""a""#,
            "[]",
            r#"{"":[{"a":1,"b":-0.5},1e+21,"\n",[true,false,null,{}]],"a":{},"b":[[]]}"#,
            r#"{"aaaaaaaa":1,"aaaaaaaaa":2,"aaaaaaaab":3,"😀":4,"ﬀ":5}"#,
        ] {
            let body = format!(" \t{text}\r\n");
            assert_eq!(find(body.as_bytes()), Some(text.as_bytes()));
        }
    }

    #[test]
    fn anything_else_is_left_to_the_writer() {
        for body in [
            "",
            " ",
            "1 2",
            "[1, 2]",
            "[1 ]",
            "1.0",
            "-0",
            "1e5",
            "01",
            r#""\/""#,
            "[1,]",
            "[,1]",
            "[1",
            "{",
            "}",
            "]",
            "nul",
            "truefalse",
            r#"{"b":1,"a":2}"#,
            r#"{"a":1,"a":2}"#,
            r#"{"":1,"":2}"#,
            r#"{"a" :1}"#,
            r#"{"a":1"#,
            r#"{"a":1]"#,
            r#"["a":1]"#,
            r#"{"\n":1}"#,
            r#"{"ﬀ":1,"😀":2}"#,
            r#"{"aaaaaaaab":1,"aaaaaaaaa":2}"#,
            r#"{"a"1}"#,
            "{a:1}",
            "\u{c}1",
        ] {
            assert_eq!(find(body.as_bytes()), None, "{body}");
        }
        assert!(find(&[b'['; DEPTH_MAX + 1]).is_none());
    }
}
