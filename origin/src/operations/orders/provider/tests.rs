//! Every way in which a call can end, and what it means for the charge.

use super::*;
use std::net::{Ipv4Addr, SocketAddr};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

const IN_TIME: Duration = Duration::from_millis(300);

fn reply(json: &str) -> Reply {
    serde_json::from_str(json).unwrap_or_default()
}

#[test]
fn each_answer_has_one_meaning() {
    let paid = r#"{"id":"pi_1","status":"succeeded"}"#;
    let declined = r#"{"error":{"type":"card_error","message":"no"}}"#;
    let key = r#"{"error":{"type":"idempotency_error"}}"#;
    let invalid = r#"{"error":{"type":"invalid_request_error"}}"#;
    let api = r#"{"error":{"type":"api_error"}}"#;
    let unknown = [
        (200, "garbage"),
        (200, r#"{"id":"pi_1","status":"processing"}"#),
        (200, "{}"),
        (202, paid),
        (302, ""),
        (400, key),
        (400, "garbage"),
        (402, "garbage"),
        (408, ""),
        (409, key),
        (500, api),
        (502, ""),
        (503, ""),
        (504, ""),
    ];
    for (status, body) in unknown {
        let status = StatusCode::from_u16(status).unwrap();
        assert_eq!(
            charged(status, reply(body)),
            Charged::Unknown,
            "{status} {body}"
        );
    }
    assert_eq!(
        charged(StatusCode::OK, reply(paid)),
        Charged::Succeeded("pi_1".into())
    );
    let refused = charged(StatusCode::PAYMENT_REQUIRED, reply(declined));
    assert_eq!(refused, Charged::Declined("no".into()));
    for (status, body) in [(400, invalid), (401, invalid), (429, ""), (404, invalid)] {
        let status = StatusCode::from_u16(status).unwrap();
        let charged = charged(status, reply(body));
        assert!(matches!(charged, Charged::Nothing(_)), "{status}");
    }
}

/// A server that reads a request and then writes this, and closes unless it is to be silent.
async fn server(answer: &'static str, silent: bool) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let mut request = [0; 4_096];
            let read = client.read(&mut request).await;
            let written = client.write_all(answer.as_bytes()).await;
            if silent && read.is_ok() && written.is_ok() {
                // Until the other side gives up.
                let _ = client.read_to_end(&mut Vec::new()).await;
            }
        }
    });
    address
}

/// How a charge at this base URL ends.
async fn ends(base: &str) -> Charged {
    let provider = Provider::new(base, "secret".into(), IN_TIME).unwrap();
    match send(provider.post("/v1/payment_intents", "key").body("a=b")).await {
        Ok((status, reply)) => charged(status, reply),
        Err(error) => error.into(),
    }
}

#[tokio::test]
async fn a_call_that_ends_before_its_request_has_charged_nothing() {
    let closed = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let refused = closed.local_addr().unwrap();
    drop(closed);
    let plain = server("no TLS here", false).await;
    let table = [
        ("refused", format!("http://{refused}")),
        ("no such name", "http://provider.invalid".into()),
        ("no TLS", format!("https://{plain}")),
    ];
    for (how, base) in table {
        let charged = ends(&base).await;
        assert!(matches!(charged, Charged::Nothing(_)), "{how}: {charged:?}");
    }
}

#[tokio::test]
async fn a_call_that_ends_after_its_request_may_have_charged() {
    let half = "HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{";
    let table = [
        ("no answer in time", "", true),
        ("no whole answer in time", half, true),
        ("cut before the answer", "", false),
        ("cut within the answer", half, false),
        ("no HTTP", "garbage\r\n\r\n", false),
    ];
    for (how, answer, silent) in table {
        let address = server(answer, silent).await;
        let charged = ends(&format!("http://{address}")).await;
        assert_eq!(charged, Charged::Unknown, "{how}");
    }
}

#[tokio::test]
async fn a_provider_that_is_asked_too_often_says_when_to_come_back() {
    let busy = "HTTP/1.1 429 Too Many Requests\r\nretry-after: 17\r\ncontent-length: 0\r\n\r\n";
    let charged = ends(&format!("http://{}", server(busy, false).await)).await;
    let Charged::Nothing(problem) = charged else {
        panic!("{charged:?}");
    };
    assert_eq!(problem.retry_after, Some(17));
}
