//! A client of one provider.

use std::time::Duration;

use reqwest::header::HeaderMap;
use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use tests::provider::{DEFAULT_SECRET, InProcess};

/// The form of a payment that succeeds.
pub(crate) const PAYMENT: &str = "amount=1250&currency=eur&confirm=true&payment_method=pm_card_visa\
    &transfer_data[destination]=acct_1&metadata[scope]=s1";
/// The form of a payment that is declined.
pub(crate) const DECLINED: &str = "amount=1250&currency=eur&confirm=true\
    &payment_method=pm_card_visa&transfer_data[destination]=acct_declined";

pub(crate) const INTENTS: &str = "/v1/payment_intents";
pub(crate) const REFUNDS: &str = "/v1/refunds";

const CONDITION_WAIT_MAX: Duration = Duration::from_secs(5);

/// A provider of its own and a connection to it.
#[derive(Debug)]
pub(crate) struct Client {
    provider: InProcess,
    http: reqwest::Client,
}

/// An answer that was read to its end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).expect("the body is JSON")
    }

    pub(crate) fn replayed(&self) -> bool {
        self.headers
            .get("idempotent-replayed")
            .is_some_and(|v| v == "true")
    }

    /// Type and code of the error envelope.
    pub(crate) fn error(&self) -> (String, String) {
        let error = &self.json()["error"];
        let text = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
        (text("type"), text("code"))
    }
}

impl Client {
    pub(crate) async fn start() -> Self {
        let provider = InProcess::start(DEFAULT_SECRET).await;
        Self {
            provider: provider.expect("a free port"),
            http: reqwest::Client::new(),
        }
    }

    pub(crate) fn address(&self) -> std::net::SocketAddr {
        self.provider.address()
    }

    /// A request without credentials.
    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let url = format!("{}{path}", self.provider.url());
        self.http.request(method, url)
    }

    /// A form with the secret, not sent yet.
    pub(crate) fn unkeyed(&self, path: &str, form: &str) -> RequestBuilder {
        self.request(Method::POST, path)
            .bearer_auth(DEFAULT_SECRET)
            .header("content-type", "application/x-www-form-urlencoded")
            .body(form.to_owned())
    }

    /// A form with the secret and a key, not sent yet.
    pub(crate) fn form(&self, path: &str, key: &str, form: &str) -> RequestBuilder {
        self.unkeyed(path, form).header("idempotency-key", key)
    }

    pub(crate) async fn post(&self, path: &str, key: &str, form: &str) -> Answer {
        read(self.form(path, key, form)).await.expect("an answer")
    }

    pub(crate) async fn pay(&self, key: &str) -> Answer {
        self.post(INTENTS, key, PAYMENT).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        let request = self.request(Method::GET, path).bearer_auth(DEFAULT_SECRET);
        read(request).await.expect("an answer")
    }

    pub(crate) async fn charges(&self) -> Vec<Value> {
        let charges = self.get("/_sandbox/charges").await.json();
        charges.as_array().expect("a list").clone()
    }

    pub(crate) async fn calls(&self) -> Vec<Value> {
        let calls = self.get("/_sandbox/requests").await.json();
        calls.as_array().expect("a list").clone()
    }

    pub(crate) async fn set_faults(&self, faults: Value) {
        let request = self.request(Method::PUT, "/_sandbox/faults").json(&faults);
        let answer = read(request).await.expect("an answer");
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    }

    /// Waits until `count` calls have reached `outcome`.
    pub(crate) async fn wait_for_calls(&self, outcome: &str, count: usize) {
        let reached = async {
            loop {
                let calls = self.calls().await;
                if calls
                    .iter()
                    .filter(|c| c["outcome"] == json!(outcome))
                    .count()
                    == count
                {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let in_time = tokio::time::timeout(CONDITION_WAIT_MAX, reached).await;
        in_time.unwrap_or_else(|_| panic!("never {count} calls {outcome}"));
    }
}

/// Sends a request and reads the answer.
pub(crate) async fn read(request: RequestBuilder) -> reqwest::Result<Answer> {
    let response = request.send().await?;
    Ok(Answer {
        status: response.status(),
        headers: response.headers().clone(),
        text: response.text().await?,
    })
}
