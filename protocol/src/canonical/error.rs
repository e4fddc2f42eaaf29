//! What makes a body impossible to canonicalise, and where.

use std::fmt;

/// Why a body has no canonical form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{kind} at byte {offset}")]
pub struct CanonicalError {
    /// What is wrong.
    pub kind: CanonicalErrorKind,
    /// Where, in bytes from the start of the body. The end of the body counts as a place.
    pub offset: usize,
}

/// The kinds of [`CanonicalError`]. Their names are part of the vector file's format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CanonicalErrorKind {
    /// No bytes but white space.
    Empty,
    /// The body starts with U+FEFF.
    ByteOrderMark,
    /// Not UTF-8 (RFC 3629): overlong forms and encoded surrogates included.
    InvalidUtf8,
    /// The body ends inside the value.
    UnexpectedEnd,
    /// A byte that the grammar of RFC 8259 does not allow here.
    UnexpectedByte,
    /// Something other than white space follows the value.
    TrailingContent,
    /// An object has two members of one name. The offset is that of the first repetition.
    DuplicateName,
    /// A raw control character inside a string.
    ControlCharacter,
    /// A backslash that starts no escape of RFC 8259.
    InvalidEscape,
    /// `\ud800` to `\udfff` that is not half of a pair.
    LoneSurrogate,
    /// A number that the grammar does not allow, such as `01` or `1.`.
    InvalidNumber,
    /// A number of more than [`NUMBER_CHARS_MAX`](super::NUMBER_CHARS_MAX) characters.
    NumberTooLong,
    /// An exponent beyond [`EXPONENT_MAX`](super::EXPONENT_MAX), on either side.
    ExponentTooLarge,
    /// More than [`DEPTH_MAX`](super::DEPTH_MAX) open arrays and objects.
    TooDeep,
}

impl CanonicalErrorKind {
    /// The stable name of the kind, in kebab-case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::ByteOrderMark => "byte-order-mark",
            Self::InvalidUtf8 => "invalid-utf8",
            Self::UnexpectedEnd => "unexpected-end",
            Self::UnexpectedByte => "unexpected-byte",
            Self::TrailingContent => "trailing-content",
            Self::DuplicateName => "duplicate-name",
            Self::ControlCharacter => "control-character",
            Self::InvalidEscape => "invalid-escape",
            Self::LoneSurrogate => "lone-surrogate",
            Self::InvalidNumber => "invalid-number",
            Self::NumberTooLong => "number-too-long",
            Self::ExponentTooLarge => "exponent-too-large",
            Self::TooDeep => "too-deep",
        }
    }

    /// The error of this kind at `offset`.
    #[cold]
    pub(super) const fn at(self, offset: usize) -> CanonicalError {
        CanonicalError { kind: self, offset }
    }
}

impl fmt::Display for CanonicalErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "no JSON value",
            Self::ByteOrderMark => "a byte order mark",
            Self::InvalidUtf8 => "bytes that are not UTF-8",
            Self::UnexpectedEnd => "the body ends inside a value,",
            Self::UnexpectedByte => "a byte that JSON does not allow there,",
            Self::TrailingContent => "content after the value,",
            Self::DuplicateName => "a member name that its object has already,",
            Self::ControlCharacter => "a raw control character in a string,",
            Self::InvalidEscape => "an unknown escape in a string,",
            Self::LoneSurrogate => "a surrogate without its other half,",
            Self::InvalidNumber => "a malformed number",
            Self::NumberTooLong => "a number that is too long,",
            Self::ExponentTooLarge => "a number whose exponent is too large,",
            Self::TooDeep => "arrays and objects nested too deeply,",
        })
    }
}
