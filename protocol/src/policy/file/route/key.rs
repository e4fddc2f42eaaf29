//! `key` and `derive`.

use crate::policy::{
    KeyRule,
    file::{
        fault::{Fault, Wrong},
        table::Table,
        value::{choice, pointer},
    },
};

#[derive(Clone, Copy, PartialEq)]
enum Key {
    Required,
    Optional,
    Derived,
}

const KEYS: [(&str, Key); 3] = [
    ("required", Key::Required),
    ("optional", Key::Optional),
    ("derived", Key::Derived),
];

pub(super) fn read(block: &mut Table<'_>) -> Result<KeyRule, Fault> {
    let setting = block.take("key", |value| choice(value, &KEYS))?;
    let key = setting.as_ref().map_or(Key::Required, |key| key.value);
    let fits = (
        key == Key::Derived,
        r#"needs key = "derived""#,
        r#"key = "derived" beside it"#,
    );
    let derive = block.take_if(fits, "derive", pointer::some)?;
    match (key, derive) {
        (Key::Required, _) => Ok(KeyRule::Required),
        (Key::Optional, _) => Ok(KeyRule::Optional),
        (Key::Derived, Some(fields)) => Ok(KeyRule::Derived(fields.value)),
        (Key::Derived, None) => {
            let wrong = "key is \"derived\", but derive names no field";
            let instead = r#"derive = ["/merchantReference"] beside it"#;
            Err(Wrong::new(wrong, instead).at(setting.map_or(block.at(), |key| key.at)))
        }
    }
}
