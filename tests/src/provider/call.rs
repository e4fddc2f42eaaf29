//! A call of the API from its arrival to its answer.

use std::sync::Arc;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{FromRequest, Path, Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Router, http};
use futures_util::stream;

use super::answer::{Answer, ApiError};
use super::keys::Command;
use super::ledger::Ledger;
use super::parameters::Parameters;
use super::{Sandbox, payment_intents, refunds, search};

/// The longest idempotency key that Stripe takes.
const KEY_CHARS_MAX: usize = 255;
/// Far more than the parameters of a payment need.
const BODY_BYTES_MAX: usize = 1024 * 1024;

/// The routes of the API.
pub(super) fn routes() -> Router<Arc<Sandbox>> {
    Router::new()
        .route("/v1/payment_intents", post(create_intent))
        .route("/v1/payment_intents/search", get(search_intents))
        .route("/v1/payment_intents/{id}", get(retrieve_intent))
        .route("/v1/refunds", post(create_refund))
}

async fn create_intent(State(sandbox): State<Arc<Sandbox>>, received: Received) -> Response {
    answer(sandbox, received, payment_intents::create).await
}

async fn retrieve_intent(
    State(sandbox): State<Arc<Sandbox>>,
    Path(id): Path<String>,
    received: Received,
) -> Response {
    let retrieve = move |ledger: &mut Ledger, _: &Received| payment_intents::retrieve(ledger, &id);
    answer(sandbox, received, retrieve).await
}

async fn search_intents(State(sandbox): State<Arc<Sandbox>>, received: Received) -> Response {
    let search = |ledger: &mut Ledger, received: &Received| search::search(ledger, received);
    answer(sandbox, received, search).await
}

async fn create_refund(State(sandbox): State<Arc<Sandbox>>, received: Received) -> Response {
    answer(sandbox, received, refunds::create).await
}

/// Runs the call in a task of its own, so that a client that leaves doesn't stop it.
async fn answer<E>(sandbox: Arc<Sandbox>, received: Received, execute: E) -> Response
where
    E: FnOnce(&mut Ledger, &Received) -> Result<Answer, Answer> + Send + 'static,
{
    let call = tokio::spawn(async move {
        let arrival = sandbox.world().arrive(&received);
        tokio::time::sleep(arrival.delay()).await;
        sandbox.world().settle(arrival, &received, execute)
    });
    let answer = call.await.expect("a call ends without a panic");
    answer.map_or_else(cut, Answer::into_response)
}

/// Closes the connection without a byte of an answer: the server meets the error of this body
/// before it has flushed the head, and gives the connection up.
fn cut() -> Response {
    let error = std::io::Error::other("cut by a fault");
    Body::from_stream(stream::iter([Err::<Bytes, _>(error)])).into_response()
}

/// A call that carries the secret and can be read.
#[derive(Debug)]
pub(super) struct Received {
    pub(super) method: Method,
    pub(super) path: String,
    /// Only a POST has one; Stripe ignores it elsewhere.
    pub(super) key: Option<String>,
    pub(super) parameters: Parameters,
}

impl Received {
    pub(super) fn command(&self) -> Command {
        Command {
            path: self.path.clone(),
            parameters: self.parameters.clone(),
        }
    }
}

impl FromRequest<Arc<Sandbox>> for Received {
    type Rejection = Response;

    async fn from_request(request: Request, sandbox: &Arc<Sandbox>) -> Result<Self, Response> {
        let (parts, body) = request.into_parts();
        let received = async {
            authorise(&parts.headers, &sandbox.secret)?;
            let body = to_bytes(body, BODY_BYTES_MAX).await;
            let body = body.map_err(|_| too_large())?;
            form(&parts.headers, &body)?;
            Ok(Self {
                key: key(&parts)?,
                parameters: Parameters::parse(parts.uri.query().unwrap_or_default(), &body),
                path: parts.uri.path().to_owned(),
                method: parts.method,
            })
        };
        received.await.map_err(Answer::into_response)
    }
}

fn authorise(headers: &HeaderMap, secret: &str) -> Result<(), Answer> {
    let sent = headers.get(AUTHORIZATION).and_then(|v| v.to_str().ok());
    if sent.and_then(|v| v.strip_prefix("Bearer ")) == Some(secret) {
        return Ok(());
    }
    let message = "Send the secret as a bearer token: Authorization: Bearer sk_test_…";
    Err(ApiError::invalid(message).answer(StatusCode::UNAUTHORIZED))
}

fn key(parts: &http::request::Parts) -> Result<Option<String>, Answer> {
    if parts.method != Method::POST {
        return Ok(None);
    }
    let mut lines = parts.headers.get_all("idempotency-key").iter();
    let (first, second) = (lines.next(), lines.next());
    let Some(line) = first else { return Ok(None) };
    match line.to_str() {
        Ok(key) if second.is_none() && (1..=KEY_CHARS_MAX).contains(&key.len()) => {
            Ok(Some(key.to_owned()))
        }
        _ => {
            let message = "An idempotency key is one header of 1 to 255 visible characters.";
            Err(ApiError::invalid(message).bad_request())
        }
    }
}

/// Refuses a body in another encoding: Stripe's first API version reads forms only.
fn form(headers: &HeaderMap, body: &Bytes) -> Result<(), Answer> {
    let media_type = headers.get(CONTENT_TYPE).and_then(|v| v.to_str().ok());
    let essence = media_type.and_then(|v| v.split(';').next()).map(str::trim);
    if body.is_empty() || essence == Some("application/x-www-form-urlencoded") {
        return Ok(());
    }
    let message = "Send parameters as application/x-www-form-urlencoded.";
    Err(ApiError::invalid(message).bad_request())
}

fn too_large() -> Answer {
    ApiError::invalid("The body is over 1 MiB.").answer(StatusCode::PAYLOAD_TOO_LARGE)
}
