//! The program: what it prints, and how it ends.

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use reqwest::StatusCode;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader, Lines};
use tokio::net::TcpListener;
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::timeout;

use crate::client::{INTENTS, PAYMENT};

const WAIT_MAX: Duration = Duration::from_secs(10);

fn program(bind: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sandbox-provider"));
    command
        .env("BIND", bind)
        .env("PROVIDER_SECRET", "sk_test_mine")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

/// Starts the program and reads its URL from the line it prints.
async fn start() -> (Child, String, Lines<BufReader<ChildStdout>>) {
    let mut child = program("127.0.0.1:0").spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let line = timeout(WAIT_MAX, lines.next_line())
        .await
        .unwrap()
        .unwrap()
        .unwrap();
    let url = line
        .strip_prefix("provider listening on ")
        .unwrap()
        .to_owned();
    (child, url, lines)
}

async fn terminate(child: &mut Child) -> ExitStatus {
    let pid = child.id().unwrap().to_string();
    let kill = Command::new("kill").args(["-TERM", &pid]).status().await;
    assert!(kill.unwrap().success());
    timeout(WAIT_MAX, child.wait()).await.unwrap().unwrap()
}

fn pay(url: &str) -> reqwest::RequestBuilder {
    reqwest::Client::new()
        .post(format!("{url}{INTENTS}"))
        .bearer_auth("sk_test_mine")
        .header("content-type", "application/x-www-form-urlencoded")
        .body(PAYMENT)
}

#[tokio::test]
async fn it_prints_one_line_serves_with_its_secret_and_ends_on_sigterm() {
    let (mut child, url, mut lines) = start().await;
    assert_eq!(pay(&url).send().await.unwrap().status(), StatusCode::OK);
    assert!(terminate(&mut child).await.success());
    assert_eq!(lines.next_line().await.unwrap(), None);
}

#[tokio::test]
async fn sigterm_lets_a_running_call_end() {
    let (mut child, url, _lines) = start().await;
    let http = reqwest::Client::new();
    let faults = http
        .put(format!("{url}/_sandbox/faults"))
        .json(&json!({"delay_ms": 1_000}));
    faults.send().await.unwrap();
    let call = tokio::spawn(pay(&url).send());
    let running = async {
        loop {
            let calls = http
                .get(format!("{url}/_sandbox/requests"))
                .send()
                .await
                .unwrap();
            if calls.text().await.unwrap().contains("running") {
                break;
            }
        }
    };
    timeout(WAIT_MAX, running).await.unwrap();
    assert!(terminate(&mut child).await.success());
    assert_eq!(call.await.unwrap().unwrap().status(), StatusCode::OK);
}

#[tokio::test]
async fn a_taken_port_is_named_and_fails() {
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let mut child = program(&address).spawn().unwrap();
    let status = timeout(WAIT_MAX, child.wait()).await.unwrap().unwrap();
    let mut stderr = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut stderr)
        .await
        .unwrap();
    assert!(!status.success());
    assert!(
        stderr.contains(&address) && stderr.contains("in use"),
        "{stderr}"
    );
}
