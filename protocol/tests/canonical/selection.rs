//! Includes and excludes, against a pruning by hand and against a slow one.

use proptest::prelude::*;
use protocol::canonical::{Pointer, Selection, digest, pointers, text};

use crate::model::Model;
use crate::spelling::spell;
use crate::strategy;

fn selected(body: &str, include: &[&str], exclude: &[&str]) -> String {
    let [include, exclude] = [include, exclude].map(owned);
    let selection = Selection::new(&include, &exclude).unwrap();
    let canonical = text(body.as_bytes(), &selection).unwrap();
    String::from_utf8(canonical.into_owned()).unwrap()
}

fn owned(list: &[&str]) -> Vec<String> {
    list.iter().map(ToString::to_string).collect()
}

#[test]
fn what_is_kept_keeps_its_pointer() {
    let body = r#"{"a":{"b":[10,{"c":1,"d":2},12],"e":{}},"~/":5,"":[[]],"z":null}"#;
    for (include, exclude, expected) in [
        (&[][..], &["/a", "/z"][..], r#"{"":[[]],"~/":5}"#),
        (&["/a/b/1/c"], &[], r#"{"a":{"b":[null,{"c":1}]}}"#),
        (&["/a/b/0", "/a/b/2"], &[], r#"{"a":{"b":[10,null,12]}}"#),
        (
            &[],
            &["/a/b/0"],
            r#"{"":[[]],"a":{"b":[null,{"c":1,"d":2},12],"e":{}},"z":null,"~/":5}"#,
        ),
        (&["/a/b"], &["/a/b/1", "/a/b/2"], r#"{"a":{"b":[10]}}"#),
        (&["/a"], &["/a/b"], r#"{"a":{"e":{}}}"#),
        (&["/a/b"], &["/a"], "null"),
        (&["/a/e"], &[], r#"{"a":{"e":{}}}"#),
        (&["/a/e"], &["/a/e/x"], r#"{"a":{"e":{}}}"#),
        (&["/~0~1", "/z"], &[], r#"{"z":null,"~/":5}"#),
        (&["/"], &[], r#"{"":[[]]}"#),
        (&["//0"], &[], r#"{"":[[]]}"#),
        (&[""], &["/a", "/"], r#"{"z":null,"~/":5}"#),
        (&[], &[""], "null"),
        (
            &[
                "/x", "/a/b/3", "/a/b/-", "/a/b/01", "/a/b/+1", "/z/0", "/~0~1/a",
            ],
            &[],
            "null",
        ),
    ] {
        assert_eq!(
            selected(body, include, exclude),
            expected,
            "{include:?} {exclude:?}"
        );
    }
}

#[test]
fn different_places_never_share_a_text() {
    let both = |body| selected(body, &["/0/a", "/1/a"], &[]);
    assert_eq!(both(r#"[{"a":1},{}]"#), r#"[{"a":1}]"#);
    assert_eq!(both(r#"[{},{"a":1}]"#), r#"[null,{"a":1}]"#);
    assert_eq!(both(r#"[5,{"a":1,"b":2},3]"#), r#"[null,{"a":1}]"#);
    let rest = |body| selected(body, &[], &["/0"]);
    assert_eq!(rest("[1,2]"), "[null,2]");
    assert_eq!(rest("[1]"), "[]");
}

#[test]
fn what_is_left_out_must_still_be_json() {
    for body in [
        r#"{"x":01,"a":1}"#,
        r#"{"x":{"b":1,"\u0062":2},"a":1}"#,
        r#"{"x":1,"x":1}"#,
    ] {
        for selection in [
            Selection::new(&owned(&["/a"]), &[]).unwrap(),
            Selection::new(&[], &owned(&["/x"])).unwrap(),
        ] {
            assert!(digest(body.as_bytes(), &selection).is_err(), "{body}");
        }
    }
}

#[test]
fn a_pointer_is_refused_when_it_is_none() {
    for text in ["a", "/~", "/~2", "/a~", "/~é", "#/a"] {
        assert!(Pointer::parse(text).is_err(), "{text}");
        assert!(Selection::new(&owned(&[text]), &[]).is_err(), "{text}");
        assert!(Selection::new(&[], &owned(&[text])).is_err(), "{text}");
    }
}

#[test]
fn pointers_give_the_canonical_text_of_each_value() {
    let list = ["/b", "/c/1", "", "/x", "/b", "/c"].map(|text| Pointer::parse(text).unwrap());
    let found = pointers(br#" {"c":[1.0, {"z":1,"y":2}],"b":"\u0041"} "#, &list).unwrap();
    let whole = r#"{"b":"A","c":[1,{"y":2,"z":1}]}"#;
    let expected = [
        Some(r#""A""#),
        Some(r#"{"y":2,"z":1}"#),
        Some(whole),
        None,
        Some(r#""A""#),
        Some(r#"[1,{"y":2,"z":1}]"#),
    ];
    assert_eq!(
        found,
        expected.map(|text| text.map(|text| text.as_bytes().to_vec()))
    );
}

/// All paths of a document, those to containers included.
fn paths(model: &Model) -> Vec<Vec<String>> {
    let children: Vec<(String, &Model)> = match model {
        Model::Array(elements) => elements
            .iter()
            .enumerate()
            .map(|(index, value)| (index.to_string(), value))
            .collect(),
        Model::Object(members) => members
            .iter()
            .map(|(name, value)| (name.clone(), value))
            .collect(),
        _ => Vec::new(),
    };
    let mut all = vec![Vec::new()];
    for (token, child) in children {
        all.extend(
            paths(child)
                .into_iter()
                .map(|rest| [vec![token.clone()], rest].concat()),
        );
    }
    all
}

fn pointer_text(path: &[String]) -> String {
    let escape = |token: &String| token.replace('~', "~0").replace('/', "~1");
    path.iter()
        .flat_map(|token| ["/".to_owned(), escape(token)])
        .collect()
}

/// The document that DESIGN's rule leaves over; `None` when nothing is kept.
fn pruned(
    model: &Model,
    path: &[String],
    kept: bool,
    include: &[Vec<String>],
    exclude: &[Vec<String>],
) -> Option<Model> {
    if exclude.iter().any(|excluded| excluded == path) {
        return None;
    }
    let kept = kept || include.iter().any(|included| included == path);
    let child = |token: String, value: &Model| {
        pruned(value, &[path, &[token]].concat(), kept, include, exclude)
    };
    let smaller = match model {
        Model::Array(elements) => {
            let each = elements.iter().enumerate();
            let mut left: Vec<_> = each
                .map(|(index, value)| child(index.to_string(), value))
                .collect();
            while left.last() == Some(&None) {
                left.pop();
            }
            Model::Array(
                left.into_iter()
                    .map(|value| value.unwrap_or(Model::Null))
                    .collect(),
            )
        }
        Model::Object(members) => {
            let each = members.iter();
            let left =
                each.filter_map(|(name, value)| Some((name.clone(), child(name.clone(), value)?)));
            Model::Object(left.collect())
        }
        scalar => return kept.then(|| scalar.clone()),
    };
    let empty = matches!(&smaller, Model::Array(list) if list.is_empty())
        || matches!(&smaller, Model::Object(list) if list.is_empty());
    (kept || !empty).then_some(smaller)
}

/// A few of the document's paths, and some that lead nowhere.
fn some_paths(model: &Model, picks: &[prop::sample::Index]) -> Vec<Vec<String>> {
    let mut all = paths(model);
    all.remove(0);
    all.extend([vec!["no".to_owned()], vec!["0".to_owned(), "-".to_owned()]]);
    picks.iter().map(|pick| pick.get(&all).clone()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_selection_prunes_as_its_rule_says(
        model in strategy::model(),
        seed: u64,
        include: Vec<prop::sample::Index>,
        exclude in proptest::collection::vec(any::<prop::sample::Index>(), 0..4),
    ) {
        let include = some_paths(&model, include.get(..3).unwrap_or(&include));
        let exclude = some_paths(&model, &exclude);
        let [includes, excludes] = [&include, &exclude]
            .map(|paths| paths.iter().map(|path| pointer_text(path)).collect::<Vec<_>>());
        let selection = Selection::new(&includes, &excludes).unwrap();
        let body = spell(&model, seed);
        let ours = text(body.as_bytes(), &selection).unwrap();
        let left = pruned(&model, &[], include.is_empty(), &include, &exclude);
        let expected = left.unwrap_or(Model::Null).canonical();
        prop_assert_eq!(String::from_utf8(ours.into_owned()).unwrap(), expected);
    }

    #[test]
    fn every_pointer_finds_its_value(
        model in strategy::model(),
        seed: u64,
        picks in proptest::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let paths = some_paths(&model, &picks);
        let list: Vec<_> =
            paths.iter().map(|path| Pointer::parse(&pointer_text(path)).unwrap()).collect();
        let found = pointers(spell(&model, seed).as_bytes(), &list).unwrap();
        let expected: Vec<_> = paths
            .iter()
            .map(|path| model.at(path).map(|value| value.canonical().into_bytes()))
            .collect();
        prop_assert_eq!(found, expected);
    }
}
