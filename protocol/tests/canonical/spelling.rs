//! The many ways to write one document: white space, order, escapes, numbers.

use std::fmt::Write as _;

use crate::choices::Choices;
use crate::model::{Decimal, Model};

/// Writes documents differently for each seed.
pub(crate) struct Speller {
    choices: Choices,
    text: String,
}

/// One spelling of `model`.
pub(crate) fn spell(model: &Model, seed: u64) -> String {
    let mut speller = Speller {
        choices: Choices::new(seed),
        text: String::new(),
    };
    speller.value(model);
    speller.text
}

/// One spelling of a number.
pub(crate) fn spell_number(decimal: &Decimal, seed: u64) -> String {
    let mut speller = Speller {
        choices: Choices::new(seed),
        text: String::new(),
    };
    speller.number(decimal);
    speller.text
}

impl Speller {
    fn value(&mut self, model: &Model) {
        self.space();
        match model {
            Model::Null => self.text.push_str("null"),
            Model::Bool(value) => self.text.push_str(if *value { "true" } else { "false" }),
            Model::Number(decimal) => self.number(decimal),
            Model::Text(text) => self.string(text),
            Model::Array(elements) => self.list("[]", elements, Self::value),
            Model::Object(members) => {
                let mut members = members.clone();
                self.choices.shuffle(&mut members);
                self.list("{}", &members, |speller, (name, value)| {
                    speller.space();
                    speller.string(name);
                    speller.space();
                    speller.text.push(':');
                    speller.value(value);
                });
            }
        }
        self.space();
    }

    fn list<T>(&mut self, brackets: &str, items: &[T], each: impl Fn(&mut Self, &T)) {
        self.text.push_str(&brackets[..1]);
        self.space();
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.text.push(',');
            }
            each(self, item);
        }
        self.text.push_str(&brackets[1..]);
    }

    fn space(&mut self) {
        while self.choices.below(3) == 0 {
            let space = self
                .choices
                .one_of(&[" ", "\n", "\r", "\t", "\n          "]);
            self.text.push_str(space);
        }
    }

    fn string(&mut self, text: &str) {
        self.text.push('"');
        for char in text.chars() {
            self.char(char);
        }
        self.text.push('"');
    }

    fn char(&mut self, char: char) {
        let short = match char {
            '"' | '\\' | '/' => Some(char),
            '\u{8}' => Some('b'),
            '\u{9}' => Some('t'),
            '\u{a}' => Some('n'),
            '\u{c}' => Some('f'),
            '\u{d}' => Some('r'),
            _ => None,
        };
        let must = char < ' ' || char == '"' || char == '\\';
        match short {
            _ if !must && self.choices.below(4) > 0 => self.text.push(char),
            Some(short) if self.choices.below(3) > 0 => {
                self.text.push('\\');
                self.text.push(short);
            }
            _ => self.unicode_escape(char),
        }
    }

    fn unicode_escape(&mut self, char: char) {
        for unit in char.encode_utf16(&mut [0; 2]) {
            match self.choices.below(2) {
                0 => write!(self.text, "\\u{unit:04x}").unwrap(),
                _ => write!(self.text, "\\u{unit:04X}").unwrap(),
            }
        }
    }

    /// Puts the point anywhere in or around the digits and makes up for it in the exponent.
    fn number(&mut self, decimal: &Decimal) {
        let digits = if decimal.digits.is_empty() {
            "0"
        } else {
            &decimal.digits
        };
        let before = "0".repeat(self.choices.below(4));
        let after = "0".repeat(self.choices.below(4));
        let padded = format!("{before}{digits}{after}");
        let point = self.choices.below(padded.len() + 1);
        let (integer, fraction) = padded.split_at(point);
        let shift = i32::try_from(point).unwrap() - i32::try_from(before.len()).unwrap();
        let minus = decimal.negative || decimal.digits.is_empty() && self.choices.below(2) == 0;
        if minus {
            self.text.push('-');
        }
        self.text.push_str(match integer.trim_start_matches('0') {
            "" => "0",
            integer => integer,
        });
        if !fraction.is_empty() {
            write!(self.text, ".{fraction}").unwrap();
        }
        self.exponent(decimal.point - shift);
    }

    fn exponent(&mut self, exponent: i32) {
        if exponent == 0 && self.choices.below(2) == 0 {
            return;
        }
        let e = self.choices.one_of(&["e", "E"]);
        let sign = match exponent {
            0 => self.choices.one_of(&["", "+", "-"]),
            1.. => self.choices.one_of(&["", "+"]),
            _ => "-",
        };
        let zeros = self.choices.one_of(&["", "0", "000"]);
        write!(self.text, "{e}{sign}{zeros}{}", exponent.unsigned_abs()).unwrap();
    }
}
