//! What a call is answered with: a status and a JSON body, kept as bytes so that a saved answer
//! replays byte for byte.

use axum::body::Bytes;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::ledger::{PaymentIntent, new_id};

/// One answer of the API.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    status: StatusCode,
    body: Bytes,
    replayed: bool,
}

impl Answer {
    /// 200 with an object of the API.
    pub(super) fn ok(object: &impl Serialize) -> Self {
        Self::new(StatusCode::OK, object)
    }

    fn new(status: StatusCode, object: &impl Serialize) -> Self {
        let body = serde_json::to_vec(object).expect("an answer is plain data");
        Self {
            status,
            body: body.into(),
            replayed: false,
        }
    }

    /// The same answer, marked as a saved one.
    pub(super) fn replayed(self) -> Self {
        Self {
            replayed: true,
            ..self
        }
    }

    pub(super) fn status(&self) -> StatusCode {
        self.status
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let headers = [
            (CONTENT_TYPE.as_str(), "application/json".to_owned()),
            ("request-id", new_id("req")),
        ];
        let replayed = self.replayed.then_some([("idempotent-replayed", "true")]);
        match replayed {
            Some(mark) => (self.status, headers, mark, self.body).into_response(),
            None => (self.status, headers, self.body).into_response(),
        }
    }
}

/// The inside of Stripe's error envelope.
#[derive(Debug, Default, Serialize)]
pub(super) struct ApiError<'a> {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) code: Option<&'static str>,
    pub(super) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) decline_code: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) param: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) payment_intent: Option<&'a PaymentIntent>,
}

#[derive(Serialize)]
struct Envelope<'a> {
    error: ApiError<'a>,
}

impl ApiError<'_> {
    /// An `invalid_request_error`, the type of every mistake in a request.
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new("invalid_request_error", message)
    }

    pub(super) fn new(kind: &'static str, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            ..Self::default()
        }
    }

    pub(super) fn code(self, code: &'static str) -> Self {
        Self {
            code: Some(code),
            ..self
        }
    }

    /// Names the parameter at fault.
    pub(super) fn param(self, name: impl Into<String>) -> Self {
        Self {
            param: Some(name.into()),
            ..self
        }
    }

    pub(super) fn answer(self, status: StatusCode) -> Answer {
        Answer::new(status, &Envelope { error: self })
    }

    pub(super) fn bad_request(self) -> Answer {
        self.answer(StatusCode::BAD_REQUEST)
    }
}
