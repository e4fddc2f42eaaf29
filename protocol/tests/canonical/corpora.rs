//! The public corpora, when they stand beside the repository: `JSONTestSuite`, the samples of
//! RFC 8785 and 10,000 lines of its numbers. Where they are absent the tests say so and pass.

use std::fs;
use std::path::{Path, PathBuf};

use protocol::canonical::{CanonicalErrorKind as Kind, Selection, text};

/// The folder of the corpora, or `None` where the repository stands alone.
fn corpora(folder: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../shared/vectors")
        .join(folder);
    if path.is_dir() {
        return Some(path);
    }
    println!("absent: ../shared/vectors/{folder}");
    None
}

fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let read = |path: PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, fs::read(&path).unwrap())
    };
    entries.map(read).collect()
}

#[test]
fn json_test_suite_is_accepted_and_refused_as_its_names_say() {
    let Some(folder) = corpora("json-test-suite/test_parsing") else {
        return;
    };
    let files = files(&folder);
    assert!(files.len() > 300);
    for (name, body) in files {
        let outcome = text(&body, &Selection::whole());
        match name.split_at(2).0 {
            "n_" => assert!(outcome.is_err(), "{name}"),
            "y_" if name.contains("duplicated_key") => {
                assert_eq!(outcome.unwrap_err().kind, Kind::DuplicateName, "{name}");
            }
            "y_" => assert!(outcome.is_ok(), "{name}: {outcome:?}"),
            _ => {}
        }
    }
}

#[test]
fn the_undefined_cases_of_json_test_suite_are_decided() {
    let Some(folder) = corpora("json-test-suite/test_parsing") else {
        return;
    };
    let accepted: Vec<_> = files(&folder)
        .into_iter()
        .filter(|(name, body)| name.starts_with("i_") && text(body, &Selection::whole()).is_ok())
        .map(|(name, _)| name)
        .collect();
    assert!(
        accepted.iter().all(|name| name.starts_with("i_number_")),
        "{accepted:?}"
    );
}

#[test]
fn transformations_keep_numbers_exact_and_refuse_what_is_ambiguous() {
    let Some(folder) = corpora("json-test-suite/test_transform") else {
        return;
    };
    for (name, body) in files(&folder) {
        let outcome = text(&body, &Selection::whole());
        let refused = name.starts_with("object_same_key") || name.contains("invalid_codepoint");
        assert_eq!(outcome.is_err(), refused, "{name}: {outcome:?}");
    }
}

#[test]
fn the_samples_of_rfc_8785_are_reproduced() {
    let Some(folder) = corpora("jcs") else { return };
    let samples = files(&folder.join("input"));
    assert_eq!(samples.len(), 6);
    for (name, body) in samples {
        let expected = fs::read_to_string(folder.join("output").join(&name)).unwrap();
        let ours =
            String::from_utf8(text(&body, &Selection::whole()).unwrap().into_owned()).unwrap();
        // The one number of the samples that a double does not hold exactly.
        let rounded = ours.replace("333333333.33333329", "333333333.3333333");
        assert_eq!(rounded, expected.trim_end(), "{name}");
    }
}

#[test]
fn the_numbers_of_rfc_8785_are_reproduced() {
    let Some(folder) = corpora("jcs") else { return };
    let lines = fs::read_to_string(folder.join("es6-numbers-10k.txt")).unwrap();
    assert_eq!(lines.lines().count(), 10_000);
    for line in lines.lines() {
        let (_, expected) = line.split_once(',').unwrap();
        for spelled in spellings(expected) {
            let ours = text(spelled.as_bytes(), &Selection::whole()).unwrap();
            assert_eq!(
                String::from_utf8(ours.into_owned()).unwrap(),
                expected,
                "{spelled}"
            );
        }
    }
}

/// Three spellings of one number.
fn spellings(number: &str) -> [String; 3] {
    let (digits, exponent) = number.split_once('e').unwrap_or((number, "0"));
    let zeros = if digits.contains('.') { "000" } else { ".0" };
    [
        number.to_owned(),
        format!("{digits}{zeros}E{exponent}"),
        format!("{digits}e{exponent}"),
    ]
}
