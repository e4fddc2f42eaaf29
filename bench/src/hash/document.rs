//! Documents as commands look: of one kind or mixed, of a size, in each spelling.

use super::random::Random;
use std::fmt::Write as _;

/// What a document is full of.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// A third of each of the others.
    Mixed,
    /// Small integers, amounts, identifiers and coordinates.
    Numbers,
    /// Sentences, some with letters beyond ASCII or with escapes.
    Strings,
    /// Objects of many members with short values.
    Keys,
}

impl Kind {
    pub(super) const ALL: [Self; 4] = [Self::Mixed, Self::Numbers, Self::Strings, Self::Keys];

    /// How the kind is named behind the spelling.
    pub(super) const fn suffix(self) -> &'static str {
        match self {
            Self::Mixed => "",
            Self::Numbers => "-numbers",
            Self::Strings => "-strings",
            Self::Keys => "-keys",
        }
    }
}

/// How a document is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Spelling {
    /// As RFC 8785 has it.
    Canonical,
    /// Without white space, the members of each object in any order.
    Shuffled,
    /// Shuffled, with a line for each value and two spaces for each level.
    Pretty,
}

impl Spelling {
    pub(super) const ALL: [Self; 3] = [Self::Canonical, Self::Shuffled, Self::Pretty];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Canonical => "canonical",
            Self::Shuffled => "shuffled",
            Self::Pretty => "pretty",
        }
    }
}

/// A JSON value whose scalars are spelled canonically.
pub(super) enum Document {
    Scalar(String),
    Array(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl Document {
    /// A document whose canonical text is as long as this, give or take one of its values.
    pub(super) fn new(kind: Kind, bytes: usize) -> Self {
        let random = &mut Random::new(1);
        let of = |element: fn(&mut Random) -> Self, bytes, random: &mut Random| {
            Self::array(bytes, || element(random))
        };
        match kind {
            Kind::Numbers => of(number, bytes, random),
            Kind::Strings => of(sentence, bytes, random),
            Kind::Keys => of(members, bytes, random),
            Kind::Mixed => Self::Object(vec![
                ("keys".to_owned(), of(members, bytes / 3, random)),
                ("numbers".to_owned(), of(number, bytes / 3, random)),
                ("strings".to_owned(), of(sentence, bytes / 3, random)),
            ]),
        }
    }

    fn array(bytes: usize, mut element: impl FnMut() -> Self) -> Self {
        let (mut elements, mut len) = (Vec::new(), 0);
        while len < bytes {
            let element = element();
            len += element.spelled(Spelling::Canonical).len() + 1;
            elements.push(element);
        }
        Self::Array(elements)
    }

    /// The document as text. It is built with its members in order.
    pub(super) fn spelled(&self, spelling: Spelling) -> Vec<u8> {
        let mut writer = Writer {
            text: String::new(),
            indent: (spelling == Spelling::Pretty).then_some(0),
            order: (spelling != Spelling::Canonical).then(|| Random::new(2)),
        };
        writer.value(self);
        writer.text.into_bytes()
    }
}

struct Writer {
    text: String,
    /// The open levels, where these are shown.
    indent: Option<usize>,
    order: Option<Random>,
}

impl Writer {
    fn value(&mut self, value: &Document) {
        match value {
            Document::Scalar(text) => self.text.push_str(text),
            Document::Array(elements) => self.list('[', elements, ']', |writer, element| {
                writer.value(element);
            }),
            Document::Object(members) => {
                let mut members: Vec<_> = members.iter().collect();
                if let Some(random) = &mut self.order {
                    random.shuffle(&mut members);
                }
                self.list('{', &members, '}', |writer, (name, value)| {
                    let colon = if writer.indent.is_some() { ": " } else { ":" };
                    let _ = write!(writer.text, "\"{name}\"{colon}");
                    writer.value(value);
                });
            }
        }
    }

    fn list<T>(&mut self, open: char, items: &[T], close: char, write: impl Fn(&mut Self, &T)) {
        self.text.push(open);
        self.indent = self.indent.map(|levels| levels + 1);
        for (place, item) in items.iter().enumerate() {
            if place > 0 {
                self.text.push(',');
            }
            self.new_line();
            write(self, item);
        }
        self.indent = self.indent.map(|levels| levels - 1);
        self.new_line();
        self.text.push(close);
    }

    fn new_line(&mut self) {
        if let Some(levels) = self.indent {
            let _ = write!(self.text, "\n{:1$}", "", 2 * levels);
        }
    }
}

fn number(random: &mut Random) -> Document {
    let text = match random.below(4) {
        0 => random.below(1_000).to_string(),
        1 => format!("{}.{:02}", random.below(10_000), random.below(99) + 1),
        2 => (1_700_000_000_000 + random.below(1 << 31)).to_string(),
        _ => {
            let millionths = f64::from(u32::try_from(random.below(180_000_000)).unwrap_or(0));
            (millionths / 1e6 - 90.0).to_string()
        }
    };
    // `12.10` is `12.1`.
    let trimmed = text.strip_suffix('0').filter(|_| text.contains('.'));
    Document::Scalar(trimmed.unwrap_or(&text).to_owned())
}

const WORDS: [&str; 16] = [
    "order",
    "please",
    "leave",
    "the",
    "parcel",
    "with",
    "a",
    "neighbour",
    "on",
    "third",
    "floor",
    "café",
    "Köln",
    "and",
    "ring",
    "twice",
];

fn sentence(random: &mut Random) -> Document {
    let mut text = "\"".to_owned();
    for _ in 0..=random.below(20) {
        text.push_str(random.pick(&WORDS));
        text.push(' ');
    }
    text.push_str(random.pick(&["soon.", "today.", "\\\"now\\\".", "tomorrow.\\n"]));
    text.push('"');
    Document::Scalar(text)
}

const VALUES: [&str; 6] = ["true", "false", "null", "0", "17", "\"\""];

fn members(random: &mut Random) -> Document {
    let mut names: Vec<String> = (0..32)
        .map(|_| {
            format!(
                "{}_{}",
                random.pick(&WORDS[..11]),
                random.pick(&WORDS[..11])
            )
        })
        .collect();
    names.sort();
    names.dedup();
    let value = |name| (name, Document::Scalar(random.pick(&VALUES).to_owned()));
    Document::Object(names.into_iter().map(value).collect())
}
