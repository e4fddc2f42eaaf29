//! The provider, in Stripe's PaymentIntents wire format.
//!
//! One table says what each way an HTTP call can end means for the charge. Within one attempt
//! nothing is sent twice: what is unknown is settled by the completer.

use super::form::Form;
use crate::{idempotency::Attempt, operations::Unanswered, store::Refund};
use protocol::{
    problem::{Kind, Problem},
    wire::hex,
};
use reqwest::{RequestBuilder, StatusCode, header::RETRY_AFTER};
use serde::Deserialize;
use std::time::Duration;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// A client of the provider.
#[derive(Debug, Clone)]
pub struct Provider {
    client: reqwest::Client,
    base: String,
    secret: Secret,
}

/// Bears the secret; its `Debug` hides it.
#[derive(Clone)]
struct Secret(String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(hidden)")
    }
}

/// What became of a charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Charged {
    /// Money moved; this is its id.
    Succeeded(String),
    /// It never will under this key.
    Declined(String),
    /// The provider did not take the request.
    Nothing(Problem),
    /// It may have moved.
    Unknown,
}

/// What a response is, as far as a charge cares.
#[derive(Debug, Default, Deserialize)]
struct Reply {
    id: Option<String>,
    status: Option<String>,
    error: Option<ReplyError>,
    data: Option<Vec<Reply>>,
    /// Seconds, from the header.
    #[serde(skip)]
    retry_after: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
struct ReplyError {
    r#type: Option<String>,
    message: Option<String>,
    code: Option<String>,
}

impl Provider {
    /// A client for this base URL; `timeout` bounds a whole call.
    pub fn new(base: &str, secret: String, timeout: Duration) -> Result<Self, reqwest::Error> {
        let client = reqwest::Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(timeout)
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .build()?;
        let base = base.trim_end_matches('/').to_owned();
        Ok(Self {
            client,
            base,
            secret: Secret(secret),
        })
    }

    /// Charges, or learns what an earlier attempt charged: the child key is the same.
    pub(super) async fn charge(&self, form: &Form, attempt: &Attempt) -> Charged {
        let amount = form.amount.to_string();
        let scope = hex::encode(&attempt.scope.0);
        let generation = attempt.hold.generation.to_string();
        let currency = form.currency.to_ascii_lowercase();
        let request = self
            .post("/v1/payment_intents", &attempt.child_key("charge"))
            .form(&[
                ("amount", amount.as_str()),
                ("currency", &currency),
                ("confirm", "true"),
                ("payment_method", "pm_card_visa"),
                ("payment_method_types[]", "card"),
                ("transfer_data[destination]", &form.destination),
                ("metadata[scope]", &scope),
                ("metadata[generation]", &generation),
            ]);
        match send(request).await {
            Ok((status, reply)) => charged(status, reply),
            Err(error) => error.into(),
        }
    }

    /// Looks for the charge of an attempt that is older than the provider keeps its key. Not found
    /// is unknown, not "nothing": a search may lag behind.
    pub(super) async fn find_charge(&self, attempt: &Attempt) -> Charged {
        let query = format!(
            "metadata['scope']:'{}' AND metadata['generation']:'{}'",
            hex::encode(&attempt.scope.0),
            attempt.hold.generation
        );
        let url = format!("{}/v1/payment_intents/search", self.base);
        let request = self
            .client
            .get(url)
            .bearer_auth(&self.secret.0)
            .query(&[("query", query)]);
        let Ok((StatusCode::OK, reply)) = send(request).await else {
            return Charged::Unknown;
        };
        let found = reply.data.unwrap_or_default().into_iter();
        let mut succeeded = found.filter(|intent| intent.status.as_deref() == Some("succeeded"));
        succeeded
            .next()
            .and_then(|intent| intent.id)
            .map_or(Charged::Unknown, Charged::Succeeded)
    }

    /// Gives a charge back; the id of the refund, or nothing where it must be tried again.
    pub async fn refund(&self, refund: &Refund) -> Option<String> {
        let key = refund.scope.child_key(refund.generation, "refund");
        let request = self
            .post("/v1/refunds", &key)
            .form(&[("payment_intent", refund.charge_id.as_str())]);
        match send(request).await {
            Ok((status, reply)) if status.is_success() => reply.id,
            Ok((_, reply)) if reply.is("charge_already_refunded") => Some(refund.charge_id.clone()),
            _ => None,
        }
    }

    fn post(&self, path: &str, key: &str) -> RequestBuilder {
        self.client
            .post(format!("{}{path}", self.base))
            .bearer_auth(&self.secret.0)
            .header("idempotency-key", key)
    }
}

impl Reply {
    fn is(&self, code: &str) -> bool {
        self.error
            .as_ref()
            .is_some_and(|error| error.code.as_deref() == Some(code))
    }
}

impl From<Unanswered> for Charged {
    fn from(error: Unanswered) -> Self {
        match error {
            Unanswered::NotSent => Self::Nothing(unavailable(2)),
            Unanswered::MayHaveArrived => Self::Unknown,
        }
    }
}

async fn send(request: RequestBuilder) -> Result<(StatusCode, Reply), Unanswered> {
    let response = request.send().await.map_err(|error| {
        // Name resolution, refusal, TLS and the connection's own timeout come before any request.
        if error.is_connect() {
            Unanswered::NotSent
        } else {
            Unanswered::MayHaveArrived
        }
    })?;
    let status = response.status();
    let retry_after = response.headers().get(RETRY_AFTER);
    let retry_after = retry_after.and_then(|seconds| seconds.to_str().ok()?.parse().ok());
    let body = response
        .bytes()
        .await
        .map_err(|_| Unanswered::MayHaveArrived)?;
    let reply = serde_json::from_slice(&body).unwrap_or_default();
    let reply = Reply {
        retry_after,
        ..reply
    };
    Ok((status, reply))
}

/// The table: what an answered call means for the charge.
fn charged(status: StatusCode, reply: Reply) -> Charged {
    let error = reply.error.unwrap_or_default();
    match (status.as_u16(), error.r#type.as_deref()) {
        (200, _) => match (reply.status.as_deref(), reply.id) {
            (Some("succeeded"), Some(id)) => Charged::Succeeded(id),
            _ => Charged::Unknown,
        },
        (402, Some("card_error")) => {
            let why = error
                .message
                .unwrap_or_else(|| "The card was declined.".into());
            Charged::Declined(why)
        }
        (400, Some("invalid_request_error")) => {
            let why = error
                .message
                .unwrap_or_else(|| "the provider refused it".into());
            Charged::Nothing(super::form::invalid("order", &why))
        }
        (401 | 403 | 404, Some(_)) => Charged::Nothing(unavailable(60)),
        (429, _) => Charged::Nothing(unavailable(reply.retry_after.unwrap_or(5))),
        // Also our key with other parameters (400): a defect that an operator must look at.
        _ => Charged::Unknown,
    }
}

fn unavailable(retry_after: u32) -> Problem {
    let detail = "The payment provider can't be used right now. Nothing was charged.";
    Problem::new(Kind::OriginUnavailable, detail).retry_after(retry_after)
}

#[cfg(test)]
mod tests;
