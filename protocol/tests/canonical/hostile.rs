//! Bodies that are made to hurt: each is decided in time and memory that grow with its size.

use std::time::{Duration, Instant};

use protocol::canonical::{CanonicalErrorKind as Kind, DEPTH_MAX, Selection, text};

const MIB: usize = 1 << 20;

/// The text, or the kind of the refusal. A body of one MiB takes milliseconds; the limit only
/// tells linear from quadratic, in a debug build on a busy machine.
#[expect(clippy::disallowed_methods, reason = "a test may take time")]
fn decided(body: &[u8]) -> Result<String, Kind> {
    let start = Instant::now();
    let outcome = text(body, &Selection::whole());
    assert!(start.elapsed() < Duration::from_secs(10));
    outcome
        .map(|text| String::from_utf8(text.into_owned()).unwrap())
        .map_err(|error| error.kind)
}

#[test]
fn a_mebibyte_of_brackets_is_too_deep() {
    assert_eq!(decided("[".repeat(MIB).as_bytes()), Err(Kind::TooDeep));
    assert_eq!(
        decided(r#"{"a":"#.repeat(MIB / 5).as_bytes()),
        Err(Kind::TooDeep)
    );
    assert_eq!(
        decided("]".repeat(MIB).as_bytes()),
        Err(Kind::UnexpectedByte)
    );
}

#[test]
fn one_number_of_a_mebibyte_is_too_long() {
    for number in [
        "9".repeat(MIB),
        format!("0.{}", "0".repeat(MIB)),
        format!("1e{}", "9".repeat(MIB)),
        format!("1e{}1", "0".repeat(MIB)),
    ] {
        assert_eq!(decided(number.as_bytes()), Err(Kind::NumberTooLong));
    }
}

#[test]
fn a_hundred_thousand_members_are_sorted() {
    let members = |order: &mut dyn Iterator<Item = usize>| {
        let list: Vec<_> = order.map(|index| format!(r#""{index:06}":0"#)).collect();
        format!("{{{}}}", list.join(","))
    };
    let sorted = members(&mut (0..100_000));
    assert_eq!(
        decided(members(&mut (0..100_000).rev()).as_bytes()),
        Ok(sorted.clone())
    );
    // 7919 and 100,000 have no common divisor.
    let mixed = members(&mut (0..100_000).map(|index| index * 7919 % 100_000));
    assert_eq!(decided(mixed.as_bytes()), Ok(sorted));
    let twice = members(&mut (0..100_000).chain([50_000]));
    assert_eq!(decided(twice.as_bytes()), Err(Kind::DuplicateName));
}

#[test]
fn members_whose_names_begin_alike_are_sorted() {
    let name = "x".repeat(500);
    let list: Vec<_> = (0..2_000)
        .rev()
        .map(|index| format!(r#""{name}{index:04}":0"#))
        .collect();
    let reversed = list.iter().rev().cloned().collect::<Vec<_>>().join(",");
    let body = format!("{{{}}}", list.join(","));
    assert_eq!(decided(body.as_bytes()), Ok(format!("{{{reversed}}}")));
}

#[test]
fn names_that_are_all_escapes_are_sorted() {
    let names = (0..20_000_u32).filter_map(|index| char::from_u32(0x4e00 + index));
    let list: Vec<_> = names
        .map(|name| format!("\"\\u{:04x}\":0", u32::from(name)))
        .collect();
    let reversed: Vec<_> = list.iter().rev().cloned().collect();
    let [sorted, mixed] = [list, reversed].map(|list| format!("{{{}}}", list.join(",")));
    assert_eq!(decided(mixed.as_bytes()), decided(sorted.as_bytes()));
}

#[test]
fn objects_in_the_wrong_order_at_every_depth_are_sorted() {
    let payload = format!("\"{}\"", "x".repeat(MIB));
    let depth = DEPTH_MAX;
    let body = format!(
        "{}{payload}{}",
        r#"{"b":"#.repeat(depth),
        r#","a":0}"#.repeat(depth)
    );
    let sorted = format!(
        "{}{payload}{}",
        r#"{"a":0,"b":"#.repeat(depth),
        "}".repeat(depth)
    );
    assert_eq!(decided(body.as_bytes()), Ok(sorted));
}

#[test]
fn a_mebibyte_of_scalars_white_space_or_escapes_is_read() {
    let zeros = format!("[{}0]", "0,".repeat(MIB / 2));
    assert_eq!(decided(zeros.as_bytes()), Ok(zeros.clone()));
    let exponents = format!("[{}0]", "1e0,".repeat(MIB / 4));
    assert_eq!(
        decided(exponents.as_bytes()),
        Ok(exponents.replace("e0", ""))
    );
    assert_eq!(decided(" ".repeat(MIB).as_bytes()), Err(Kind::Empty));
    assert_eq!(
        decided(format!("[{}1]", "\t\n".repeat(MIB / 2)).as_bytes()),
        Ok("[1]".to_owned())
    );
    let escapes = format!("\"{}\"", "\\u0041".repeat(MIB / 6));
    assert_eq!(
        decided(escapes.as_bytes()),
        Ok(escapes.replace("\\u0041", "A"))
    );
}
