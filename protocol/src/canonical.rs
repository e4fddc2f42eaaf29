//! Canonical JSON: one text, and so one digest, for every spelling of the same document.
//!
//! RFC 8785 (members sorted by UTF-16 code units, minimal escapes, no Unicode normalisation) with
//! one deliberate difference: numbers keep their exact decimal value, in the notation of
//! ECMAScript's `Number::toString`, and never pass through a double. So two different commands
//! never share a digest (cases C01, C03, C04), while every number that a common serialiser writes
//! comes out as RFC 8785 has it.
//!
//! Refused, each with the byte offset of what is wrong: duplicate member names (compared
//! unescaped, at any depth), lone surrogates, invalid UTF-8, a byte order mark, anything after the
//! value, more than [`DEPTH_MAX`] open arrays and objects, and numbers beyond the limits
//! of [`NUMBER_CHARS_MAX`] and [`EXPONENT_MAX`].
//!
//! A document that is canonical already, the common case, is verified in one scan and hashed where
//! it stands. Any other one is rewritten in one pass without recursion. No input panics.

mod block;
mod cursor;
mod error;
mod name;
mod number;
mod pointer;
mod selection;
mod string;
mod verbatim;
mod writer;

use sha2::{Digest as _, Sha256};
use std::borrow::Cow;

pub use error::{CanonicalError, CanonicalErrorKind};
pub use number::{EXPONENT_MAX, NUMBER_CHARS_MAX};
pub use pointer::{Pointer, PointerError};
pub use selection::Selection;
use writer::Writer;

/// The most arrays and objects that may be open at one place.
pub const DEPTH_MAX: usize = 128;

/// The SHA-256 of the canonical text of what `selection` looks at.
pub fn digest(body: &[u8], selection: &Selection) -> Result<[u8; 32], CanonicalError> {
    Ok(Sha256::digest(text(body, selection)?).into())
}

/// The canonical text of what `selection` looks at: the bytes that [`digest`] hashes. It is a part
/// of the body where that holds it as it stands.
pub fn text<'a>(body: &'a [u8], selection: &Selection) -> Result<Cow<'a, [u8]>, CanonicalError> {
    let source = checked(body)?;
    match verbatim(source, selection) {
        Some(text) => Ok(Cow::Borrowed(text)),
        None => Writer::new(source, selection).text().map(Cow::Owned),
    }
}

/// The canonical text of the value at each pointer, `None` where there is none.
///
/// The whole body must be acceptable, as for [`digest`].
pub fn pointers(body: &[u8], pointers: &[Pointer]) -> Result<Vec<Option<Vec<u8>>>, CanonicalError> {
    let selection = Selection::at(pointers);
    Writer::new(checked(body)?, &selection).values(pointers.len())
}

/// The body, when it is UTF-8 without a byte order mark.
fn checked(body: &[u8]) -> Result<&[u8], CanonicalError> {
    if body.starts_with(b"\xEF\xBB\xBF") {
        return Err(CanonicalErrorKind::ByteOrderMark.at(0));
    }
    if simdutf8::basic::from_utf8(body).is_ok() {
        return Ok(body);
    }
    // The fast check does not say where.
    let valid = std::str::from_utf8(body).map_or_else(|error| error.valid_up_to(), str::len);
    Err(CanonicalErrorKind::InvalidUtf8.at(valid))
}

/// The canonical text, when the source holds it as it stands.
fn verbatim<'a>(source: &'a [u8], selection: &Selection) -> Option<&'a [u8]> {
    if selection.is_whole() {
        verbatim::find(source)
    } else {
        None
    }
}
