//! What holds for every document and for every input.

use proptest::prelude::*;
use protocol::canonical::{CanonicalErrorKind as Kind, Selection, digest, text};
use sha2::{Digest as _, Sha256};

use crate::choices::Choices;
use crate::model::{Decimal, Model};
use crate::spelling::{spell, spell_number};
use crate::strategy;

fn whole(body: &str) -> String {
    let text = text(body.as_bytes(), &Selection::whole()).unwrap();
    String::from_utf8(text.into_owned()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_spelling_has_the_text_of_the_model(model in strategy::model(), seed: u64) {
        prop_assert_eq!(whole(&spell(&model, seed)), model.canonical());
    }

    #[test]
    fn every_spelling_of_a_number_is_one_text(number in strategy::decimal(), seed: u64) {
        let canonical = Model::Number(number.clone()).canonical();
        prop_assert_eq!(whole(&spell_number(&number, seed)), canonical);
    }

    #[test]
    fn canonical_of_canonical_is_itself(model in strategy::model()) {
        let canonical = model.canonical();
        prop_assert_eq!(whole(&canonical), canonical);
    }

    #[test]
    fn the_digest_is_that_of_the_text(model in strategy::model(), seed: u64) {
        let digest = digest(spell(&model, seed).as_bytes(), &Selection::whole()).unwrap();
        prop_assert_eq!(digest, <[u8; 32]>::from(Sha256::digest(model.canonical())));
    }

    #[test]
    fn another_document_has_another_text(model in strategy::model(), seed: u64) {
        let mut changed = model.clone();
        change(&mut changed, &mut Choices::new(seed));
        prop_assume!(changed.canonical() != model.canonical());
        prop_assert_ne!(whole(&spell(&changed, seed)), whole(&spell(&model, seed)));
    }

    #[test]
    fn a_damaged_document_is_judged_as_serde_json_judges_it(
        model in strategy::model(),
        seed: u64,
    ) {
        let mut body = spell(&model, seed).into_bytes();
        let mut choices = Choices::new(seed);
        for _ in 0..=choices.below(3) {
            damage(&mut body, &mut choices);
        }
        agree(&body);
    }

    #[test]
    fn any_bytes_are_judged_as_serde_json_judges_them(
        body in proptest::collection::vec(any::<u8>(), 0..64),
    ) {
        agree(&body);
    }

    #[test]
    fn any_json_like_text_is_judged_as_serde_json_judges_it(body in r#"[\[\]{}:,"\\u0-9eE.+\-a-f ]{0,24}"#) {
        agree(body.as_bytes());
    }
}

/// Changes one value, name or order somewhere in the document.
fn change(model: &mut Model, choices: &mut Choices) {
    match model {
        Model::Array(elements) if elements.len() > 1 && choices.below(4) == 0 => {
            elements.rotate_left(1);
        }
        Model::Array(elements) if !elements.is_empty() => {
            let index = choices.below(elements.len());
            change(&mut elements[index], choices);
        }
        Model::Object(members) if !members.is_empty() => {
            let index = choices.below(members.len());
            match choices.below(4) {
                0 => members[index].0.push_str("\u{10ffff} renamed"),
                1 => drop(members.remove(index)),
                _ => change(&mut members[index].1, choices),
            }
        }
        Model::Number(number) => *number = changed_number(number, choices),
        Model::Text(text) => text.push(choices.one_of(&['\0', ' ', 'a', '\u{10000}'])),
        other => *other = Model::Text(choices.one_of(&["", "0", "null"]).to_owned()),
    }
}

fn changed_number(number: &Decimal, choices: &mut Choices) -> Decimal {
    let Decimal {
        negative,
        digits,
        point,
    } = number;
    match choices.below(3) {
        0 => Decimal::new(!negative, digits, *point),
        1 => Decimal::new(*negative, digits, point + 1),
        _ => Decimal::new(*negative, &format!("{digits}1"), *point),
    }
}

/// Puts, takes or repeats a few bytes somewhere.
fn damage(body: &mut Vec<u8>, choices: &mut Choices) {
    let at = choices.below(body.len() + 1);
    let end = (at + choices.below(4)).min(body.len());
    let some = match choices.below(3) {
        0 => Vec::new(),
        1 => body[at..end].repeat(2),
        _ => vec![choices.one_of(b"\"\\[]{}:,0123.eE+-u\0\xef\xed\xa0\x80\xff ")],
    };
    body.splice(at..end, some);
}

/// Both judge alike, but for what our rules refuse on purpose and what a double can't hold.
fn agree(body: &[u8]) {
    use Kind::{DuplicateName, ExponentTooLarge, NumberTooLong};
    let shown = String::from_utf8_lossy(body);
    match (
        text(body, &Selection::whole()),
        serde_json::from_slice::<serde_json::Value>(body),
    ) {
        (Ok(ours), Ok(_)) => assert_eq!(
            text(&ours, &Selection::whole()),
            Ok(ours.clone()),
            "{shown}"
        ),
        (Ok(_), Err(theirs)) => assert!(theirs.to_string().contains("out of range"), "{shown}"),
        (Err(ours), Ok(_)) => {
            assert!(
                matches!(ours.kind, DuplicateName | ExponentTooLarge | NumberTooLong),
                "{shown}: {ours}",
            );
        }
        (Err(ours), Err(_)) => assert!(ours.offset <= body.len(), "{shown}"),
    }
}
