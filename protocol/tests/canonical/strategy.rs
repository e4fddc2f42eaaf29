//! What proptest makes documents from.

use proptest::prelude::*;

use crate::model::{Decimal, Model};

/// Any decimal that the limits allow in every spelling.
pub(crate) fn decimal() -> impl Strategy<Value = Decimal> {
    let digits = prop_oneof!["[0-9]{0,3}", "[0-9]{1,25}", "[0-9]{300,400}"];
    let point = prop_oneof![
        -30..30_i32,
        Just(21),
        Just(22),
        Just(-5),
        Just(-6),
        -990_000..990_000
    ];
    (any::<bool>(), digits, point)
        .prop_map(|(negative, digits, point)| Decimal::new(negative, &digits, point))
}

/// Text with a liking for the characters that need care.
pub(crate) fn text() -> impl Strategy<Value = String> {
    let char = prop_oneof![
        4 => proptest::char::range('a', 'c'),
        2 => proptest::char::range('\0', '\u{7f}'),
        1 => proptest::sample::select(vec!['\u{d7ff}', '\u{e000}', '\u{ffff}', '\u{10000}', '"', '\\', '/']),
        1 => any::<char>(),
    ];
    proptest::collection::vec(char, 0..12).prop_map(|chars| chars.into_iter().collect())
}

/// A decimal that a double holds exactly enough to be printed with the same digits again.
pub(crate) fn short_decimal() -> impl Strategy<Value = Decimal> {
    let point = prop_oneof![-30..30_i32, -290..290];
    (any::<bool>(), "[0-9]{0,15}", point)
        .prop_map(|(negative, digits, point)| Decimal::new(negative, &digits, point))
}

/// A document of a few levels.
pub(crate) fn model() -> impl Strategy<Value = Model> {
    model_of(decimal())
}

/// A document with such numbers.
pub(crate) fn model_of(
    number: impl Strategy<Value = Decimal> + 'static,
) -> impl Strategy<Value = Model> {
    let scalar = prop_oneof![
        Just(Model::Null),
        any::<bool>().prop_map(Model::Bool),
        number.prop_map(Model::Number),
        text().prop_map(Model::Text),
    ];
    scalar.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Model::Array),
            proptest::collection::btree_map(text(), inner, 0..6)
                .prop_map(|members| Model::Object(members.into_iter().collect())),
        ]
    })
}
