//! The program's commands, run as a user runs them.

use protocol::{
    canonical::Selection,
    fingerprint::{Command as Request, Fingerprint},
    wire::hex,
};
use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

const BODY: &[u8] = br#"{ "b": 1.0, "a": [1e2, "\u00e9"] }"#;

fn origin(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_origin"))
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

fn policy(name: &str, text: &str) -> PathBuf {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&file, text).unwrap();
    file
}

fn fingerprint(method: &str, path: &str) -> String {
    let request = Request {
        method,
        path,
        query: "",
        content_type: Some("application/json"),
        headers: &[],
        body: BODY,
    };
    let fingerprint = Fingerprint::new(&request, &Selection::whole()).unwrap();
    hex::encode(&fingerprint.digest)
}

#[test]
fn canonical_prints_the_text_and_the_fingerprint_of_the_route() {
    let output = origin(&["canonical", "--route", "POST /orders"], BODY);
    let expected = fingerprint("POST", "/orders");
    let expected = format!("{{\"a\":[100,\"é\"],\"b\":1}}\nfingerprint {expected}\n");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
    assert!(output.status.success());
}

#[test]
fn canonical_without_a_route_leaves_its_parts_empty() {
    let output = origin(&["canonical"], BODY);
    let text = String::from_utf8(output.stdout).unwrap();
    let line = format!("fingerprint {}", fingerprint("", ""));
    assert_eq!(text.lines().nth(1), Some(line.as_str()));
}

#[test]
fn canonical_names_the_offset_of_what_it_refuses() {
    let output = origin(&["canonical"], br#"{"a":1,"\u0061":2}"#);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("offset 7"), "{said}");
}

#[test]
fn canonical_leaves_out_what_the_route_leaves_out() {
    let text = "[[route]]\nmatch = \"POST /orders\"\noperation = \"orders\"\n\
                fingerprint.exclude = [\"/sent_at\"]\n";
    let file = policy("exclude.toml", text);
    let file = file.to_str().unwrap();
    let arguments = ["canonical", "--policy", file, "--route", "POST /orders"];
    let [first, second] = [1, 2].map(|sent_at| {
        let body = format!(r#"{{"a":1,"sent_at":{sent_at}}}"#);
        origin(&arguments, body.as_bytes()).stdout
    });
    assert!(first.starts_with(b"{\"a\":1}\n"));
    assert_eq!(first, second);
}

#[test]
fn policy_check_names_file_and_line_of_what_is_wrong() {
    assert!(origin(&["policy", "check"], b"").status.success());
    let text = "[[route]]\nmatch = \"POST /orders\"\noperation = \"ordres\"\n";
    let file = policy("wrong.toml", text);
    let output = origin(&["policy", "check", file.to_str().unwrap()], b"");
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("wrong.toml:3"), "{said}");
}
