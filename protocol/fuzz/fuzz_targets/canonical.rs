//! Whatever the bytes are: no panic, one verdict whatever is selected, agreement with
//! `serde_json` about what JSON is, and canonical texts that are canonical.
#![no_main]

use libfuzzer_sys::fuzz_target;
use protocol::canonical::{CanonicalErrorKind as Kind, Pointer, Selection, digest, pointers, text};
use sha2::{Digest as _, Sha256};

const PLACES: [&str; 8] = ["", "/a", "/0", "/a/0", "/a/a", "/0/0", "/0/a", "/a/b"];

/// The selection that the first byte of the input stands for, and the rest.
fn split(input: &[u8]) -> Option<(Selection, &[u8])> {
    let (&choice, body) = input.split_first()?;
    let [include, exclude] = [choice & 15, choice >> 4].map(|place| {
        let place = PLACES.get(usize::from(place));
        place
            .map(ToString::to_string)
            .into_iter()
            .collect::<Vec<_>>()
    });
    Some((Selection::new(&include, &exclude).unwrap(), body))
}

fn assert_agrees_with_serde_json(body: &[u8]) {
    use Kind::{DuplicateName, ExponentTooLarge, NumberTooLong, TooDeep};
    let whole = text(body, &Selection::whole());
    match (whole, serde_json::from_slice::<serde_json::Value>(body)) {
        (Ok(_), Ok(_)) => {}
        (Ok(_), Err(theirs)) => {
            let reason = theirs.to_string();
            assert!(reason.contains("out of range") || reason.contains("recursion limit"));
        }
        (Err(ours), Ok(_)) => {
            assert!(matches!(
                ours.kind,
                DuplicateName | ExponentTooLarge | NumberTooLong | TooDeep
            ));
        }
        (Err(ours), Err(_)) => assert!(ours.offset <= body.len()),
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((selection, body)) = split(input) else {
        return;
    };
    assert_agrees_with_serde_json(body);
    let whole = text(body, &Selection::whole());
    let part = text(body, &selection);
    assert_eq!(part.as_ref().err(), whole.as_ref().err());
    for text in [&whole, &part].into_iter().flatten() {
        assert_eq!(
            protocol::canonical::text(text, &Selection::whole()).as_ref(),
            Ok(text)
        );
    }
    let hashed = digest(body, &selection);
    assert_eq!(
        hashed.ok(),
        part.ok().map(|text| Sha256::digest(text).into())
    );
    let places = PLACES.map(|place| Pointer::parse(place).unwrap());
    let values = pointers(body, &places).ok();
    assert_eq!(
        values.and_then(|values| values.into_iter().next().flatten()),
        whole.ok().map(std::borrow::Cow::into_owned)
    );
});
