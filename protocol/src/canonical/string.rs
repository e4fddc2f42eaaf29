//! Strings: where they end, and their minimal spelling (RFC 8785, section 3.2.2.2).

use super::cursor::Cursor;
use super::error::{CanonicalError, CanonicalErrorKind as Kind};

/// How a string is spelled in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spelling {
    /// Without escapes: the source is the text.
    Plain,
    /// With escapes, each as RFC 8785 writes it.
    Minimal,
    /// With an escape that is not needed or is written differently.
    Loose,
}

/// Steps from behind the opening quote to behind the closing one.
#[inline]
pub(super) fn scan(cursor: &mut Cursor<'_>) -> Result<Spelling, CanonicalError> {
    cursor.skip_long_plain();
    if cursor.eat(b'"') {
        Ok(Spelling::Plain)
    } else {
        scan_escaped(cursor)
    }
}

#[cold]
fn scan_escaped(cursor: &mut Cursor<'_>) -> Result<Spelling, CanonicalError> {
    let mut spelling = Spelling::Minimal;
    loop {
        match cursor.peek() {
            Some(b'"') => {
                cursor.next();
                return Ok(spelling);
            }
            Some(b'\\') => {
                if !escape(cursor)?.minimal {
                    spelling = Spelling::Loose;
                }
            }
            Some(_) => return Err(Kind::ControlCharacter.at(cursor.at())),
            None => return Err(cursor.unexpected()),
        }
        cursor.skip_plain();
    }
}

/// One escape, read.
struct Escape {
    char: char,
    minimal: bool,
}

/// Reads the escape whose backslash is next.
fn escape(cursor: &mut Cursor<'_>) -> Result<Escape, CanonicalError> {
    let start = cursor.at();
    cursor.next();
    let (char, minimal) = match cursor.next() {
        Some(b'"') => ('"', true),
        Some(b'\\') => ('\\', true),
        Some(b'b') => ('\u{8}', true),
        Some(b't') => ('\t', true),
        Some(b'n') => ('\n', true),
        Some(b'f') => ('\u{c}', true),
        Some(b'r') => ('\r', true),
        Some(b'/') => ('/', false),
        Some(b'u') => return unicode_escape(cursor, start),
        Some(_) => return Err(Kind::InvalidEscape.at(start)),
        None => return Err(cursor.unexpected()),
    };
    Ok(Escape { char, minimal })
}

/// Reads what follows `\u`, and the second escape of a surrogate pair.
fn unicode_escape(cursor: &mut Cursor<'_>, start: usize) -> Result<Escape, CanonicalError> {
    let first = code_unit(cursor, start)?;
    let mut units = [first, 0];
    let mut len = 1;
    if (0xD800..0xDC00).contains(&first) && cursor.eat_text(b"\\u") {
        let start = cursor.at() - 2;
        units = [first, code_unit(cursor, start)?];
        len = 2;
    }
    let Some(Ok(char)) = char::decode_utf16(units.into_iter().take(len)).next() else {
        return Err(Kind::LoneSurrogate.at(start));
    };
    let mut spelled = [0; 6];
    let minimal = short_escape(char, &mut spelled) == Some(cursor.since(start));
    Ok(Escape { char, minimal })
}

/// Reads the four digits of the `\u` escape that began at `start`.
fn code_unit(cursor: &mut Cursor<'_>, start: usize) -> Result<u16, CanonicalError> {
    let mut unit = 0;
    for _ in 0..4 {
        let digit = match cursor.next() {
            Some(digit @ b'0'..=b'9') => digit - b'0',
            Some(digit @ b'a'..=b'f') => digit - b'a' + 10,
            Some(digit @ b'A'..=b'F') => digit - b'A' + 10,
            Some(_) => return Err(Kind::InvalidEscape.at(start)),
            None => return Err(cursor.unexpected()),
        };
        unit = unit << 4 | u16::from(digit);
    }
    Ok(unit)
}

/// Appends the minimal spelling of a string that [`scan`] accepted.
/// `inside` is the source between the quotes.
pub(super) fn push_minimal(inside: &[u8], out: &mut Vec<u8>) -> Result<(), CanonicalError> {
    out.push(b'"');
    unescape(inside, out, |char, out| {
        let mut spelled = [0; 6];
        match short_escape(char, &mut spelled) {
            Some(escape) => out.extend_from_slice(escape),
            None => push_char(char, out),
        }
    })?;
    out.push(b'"');
    Ok(())
}

/// Appends the text itself of a string that [`scan`] accepted.
pub(super) fn push_unescaped(inside: &[u8], out: &mut Vec<u8>) -> Result<(), CanonicalError> {
    unescape(inside, out, push_char)
}

/// Copies the plain runs and gives the character of each escape to `push`.
fn unescape(
    inside: &[u8],
    out: &mut Vec<u8>,
    push: impl Fn(char, &mut Vec<u8>),
) -> Result<(), CanonicalError> {
    let mut cursor = Cursor::new(inside);
    loop {
        let start = cursor.at();
        cursor.skip_plain();
        out.extend_from_slice(cursor.since(start));
        match cursor.peek() {
            Some(_) => push(escape(&mut cursor)?.char, out),
            None => return Ok(()),
        }
    }
}

fn push_char(char: char, out: &mut Vec<u8>) {
    out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
}

/// The escape of a character that RFC 8785 escapes.
fn short_escape(char: char, spelled: &mut [u8; 6]) -> Option<&[u8]> {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    Some(match char {
        '"' => b"\\\"",
        '\\' => b"\\\\",
        '\u{8}' => b"\\b",
        '\t' => b"\\t",
        '\n' => b"\\n",
        '\u{c}' => b"\\f",
        '\r' => b"\\r",
        '\0'..='\x1f' => {
            let code = char as usize;
            let high = HEX.get(code >> 4).copied()?;
            let low = HEX.get(code & 15).copied()?;
            *spelled = [b'\\', b'u', b'0', b'0', high, low];
            spelled
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How the string is spelled, its minimal spelling and its text.
    fn read(quoted: &str) -> Result<(Spelling, String, String), CanonicalError> {
        let mut cursor = Cursor::new(quoted.as_bytes());
        assert!(cursor.eat(b'"'));
        let spelling = scan(&mut cursor)?;
        let inside = &quoted.as_bytes()[1..quoted.len() - 1];
        let (mut minimal, mut unescaped) = (Vec::new(), Vec::new());
        push_minimal(inside, &mut minimal)?;
        push_unescaped(inside, &mut unescaped)?;
        let [minimal, unescaped] = [minimal, unescaped].map(|out| String::from_utf8(out).unwrap());
        Ok((spelling, minimal, unescaped))
    }

    #[test]
    fn strings_are_spelled_minimally() {
        use Spelling::{Loose, Minimal, Plain};
        for (quoted, spelling, minimal, text) in [
            (r#""""#, Plain, r#""""#, ""),
            ("\"é\u{7f}/\"", Plain, "\"é\u{7f}/\"", "é\u{7f}/"),
            (r#""a\n\"\\""#, Minimal, r#""a\n\"\\""#, "a\n\"\\"),
            (r#""\u001f""#, Minimal, r#""\u001f""#, "\u{1f}"),
            (r#""\u001F""#, Loose, r#""\u001f""#, "\u{1f}"),
            (r#""\u000a""#, Loose, r#""\n""#, "\n"),
            (r#""\/\u0041""#, Loose, r#""/A""#, "/A"),
            (r#""\ud83d\ude00!""#, Loose, "\"😀!\"", "😀!"),
        ] {
            let expected = (spelling, minimal.to_owned(), text.to_owned());
            assert_eq!(read(quoted), Ok(expected), "{quoted}");
        }
    }

    #[test]
    fn what_is_no_escape_is_refused_where_it_starts() {
        for (quoted, error) in [
            (r#""ab\x""#, Kind::InvalidEscape.at(3)),
            (r#""\u12g4""#, Kind::InvalidEscape.at(1)),
            (r#""a\udc00""#, Kind::LoneSurrogate.at(2)),
            (r#""\ud800\n""#, Kind::LoneSurrogate.at(1)),
            (r#""\ud800\ud800""#, Kind::LoneSurrogate.at(1)),
            ("\"a\tb\"", Kind::ControlCharacter.at(2)),
            ("\"ab", Kind::UnexpectedEnd.at(3)),
        ] {
            assert_eq!(read(quoted), Err(error), "{quoted}");
        }
    }
}
