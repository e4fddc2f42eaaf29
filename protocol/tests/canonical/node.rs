//! Node's `JSON.stringify` on sorted keys: what RFC 8785 means, by its own reference.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;
use protocol::canonical::{Selection, text};

use crate::spelling::spell;
use crate::strategy;

/// Reads a list of texts and writes the list of their canonical forms.
const SCRIPT: &str = r"
    const canonical = (value) => {
        if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
        if (value === null || typeof value !== 'object') return JSON.stringify(value);
        const names = Object.keys(value).sort();
        return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join()}}`;
    };
    const bodies = JSON.parse(require('fs').readFileSync(0, 'utf8'));
    console.log(JSON.stringify(bodies.map((body) => canonical(JSON.parse(body)))));
";

/// The Node that the set-up installed, or the one in PATH.
fn node() -> PathBuf {
    let installed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../node_modules/.bin/node");
    if installed.exists() {
        installed
    } else {
        "node".into()
    }
}

fn by_node(bodies: &[String]) -> Vec<String> {
    let mut child = Command::new(node())
        .args(["-e", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("this test needs Node: `cargo xtask setup` installs one");
    let input = serde_json::to_vec(bodies).unwrap();
    child.stdin.take().unwrap().write_all(&input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn our_text_is_that_of_node_where_a_double_holds_every_number() {
    let mut runner = TestRunner::default();
    let model = strategy::model_of(strategy::short_decimal());
    let models: Vec<_> = (0..3_000)
        .map(|_| model.new_tree(&mut runner).unwrap().current())
        .collect();
    let bodies: Vec<_> = models
        .iter()
        .zip(0..)
        .map(|(model, seed)| spell(model, seed))
        .collect();
    for (body, theirs) in bodies.iter().zip(by_node(&bodies)) {
        let ours = text(body.as_bytes(), &Selection::whole()).unwrap();
        assert_eq!(
            String::from_utf8(ours.into_owned()).unwrap(),
            theirs,
            "{body}"
        );
    }
}
