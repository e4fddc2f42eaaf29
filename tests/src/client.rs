//! A client of one edge or one origin, which never retries by itself.

use crate::answer::Answer;
use reqwest::{Method, RequestBuilder};
use std::time::Duration;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinHandle,
    time::timeout,
};

/// An order that succeeds.
pub const ORDER: &str = r#"{"amount":1250,"currency":"EUR","destination":"acct_1","items":[{"sku":"A1","quantity":2}]}"#;

/// Longer than anything that a test waits for.
const PATIENCE: Duration = Duration::from_secs(40);

/// A client; cheap to clone. Each request has a connection of its own.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    base: String,
}

/// A fresh random key.
pub fn fresh_key() -> String {
    uuid::Uuid::new_v4().to_string()
}

impl Client {
    /// A client of the service at this base URL.
    pub fn new(base: impl Into<String>) -> Self {
        let http = reqwest::Client::builder()
            .timeout(PATIENCE)
            .pool_max_idle_per_host(0)
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .no_proxy()
            .build();
        Self {
            http: http.expect("a client without options of the machine"),
            base: base.into(),
        }
    }

    /// A request, not sent yet.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base))
    }

    /// `POST /orders` with a JSON body and no key, not sent yet.
    pub fn keyless(&self, body: impl Into<String>) -> RequestBuilder {
        let request = self.request(Method::POST, "/orders");
        request
            .header("content-type", "application/json")
            .body(body.into())
    }

    /// `POST /orders`, not sent yet.
    pub fn order(&self, key: &str, body: impl Into<String>) -> RequestBuilder {
        self.keyless(body).header("idempotency-key", key)
    }

    /// Places an order.
    pub async fn place(&self, key: &str, body: impl Into<String>) -> Answer {
        Answer::to(self.order(key, body)).await.expect("an answer")
    }

    /// Places an order and waits up to 10 s where it is running already.
    pub async fn place_patiently(&self, key: &str, body: impl Into<String>) -> Answer {
        let request = self.order(key, body).header("prefer", "wait=10");
        Answer::to(request).await.expect("an answer")
    }

    /// As [`Self::place_patiently`], and returns at once.
    pub fn begin_to_wait(&self, key: &str) -> JoinHandle<Answer> {
        let (client, key) = (self.clone(), key.to_owned());
        tokio::spawn(async move { client.place_patiently(&key, ORDER).await })
    }

    /// `GET`.
    pub async fn get(&self, path: &str) -> Answer {
        Answer::to(self.request(Method::GET, path))
            .await
            .expect("an answer")
    }

    /// Whether anything answers there.
    pub async fn is_up(&self) -> bool {
        Answer::to(self.request(Method::GET, "/healthz"))
            .await
            .is_ok()
    }

    /// What became of a key.
    pub async fn status(&self, key: &str) -> Answer {
        let request = self.request(Method::GET, "/idempotency/status");
        Answer::to(request.header("idempotency-key", key))
            .await
            .expect("an answer")
    }

    /// Writes these bytes as they are, for requests that no proper client sends, and reads until
    /// the other side closes: name `Connection: close` in them.
    pub async fn send_raw(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect().await;
        stream.write_all(bytes).await.expect("the request is taken");
        read_to_end(stream).await
    }

    /// As [`Self::send_raw`], and then says that nothing more comes.
    pub async fn send_truncated(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect().await;
        stream.write_all(bytes).await.expect("the request is taken");
        stream.shutdown().await.expect("an open connection");
        read_to_end(stream).await
    }

    async fn connect(&self) -> TcpStream {
        let address = self.base.trim_start_matches("http://");
        TcpStream::connect(address).await.expect("a connection")
    }
}

async fn read_to_end(mut stream: TcpStream) -> String {
    let mut answer = Vec::new();
    let read = timeout(PATIENCE, stream.read_to_end(&mut answer)).await;
    // A reset after the answer is no failure of the test.
    let _ = read.expect("the other side closes");
    String::from_utf8_lossy(&answer).into_owned()
}
