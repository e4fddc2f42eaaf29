//! Any HTTP service behind a route: sent on, and its answer archived (DESIGN sections 6 to 8).
//!
//! The upstream knows nothing of us. So an attempt that may have reached it never counts as one
//! that did not happen, whatever a later attempt meets; and within one attempt nothing is sent
//! twice, and no redirect followed.

mod answer;
mod head;
mod request;
mod sealing;
mod verdict;

pub use head::{Head, sealed_line};
pub use sealing::Sealing;

use super::{Performed, Relay, Unanswered};
use crate::{
    idempotency::{Attempt, Command, Refusal},
    store::Finishing,
};
use answer::Read;
use fail::fail_point;
use http::{Request, Response, request::Parts};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};
use protocol::{
    policy::{OnUnknown, Route},
    problem::{Kind, Problem},
    scope::Scope,
};
use std::{sync::Arc, time::Duration};
use tokio::time::{Instant, timeout};
use verdict::Verdict;

/// How long a connection may take to be made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Shorter than common servers keep an idle connection (Node: 5 s): a request that meets one which
/// is just being closed has an unknown outcome.
const IDLE_MAX: Duration = Duration::from_secs(1);
/// The largest head of an answer, in bytes.
const HEAD_BYTES_MAX: usize = 64 << 10;
/// The most header lines of an answer.
const HEAD_LINES_MAX: usize = 100;

/// A client of all upstreams; cheap to clone.
#[derive(Debug, Clone)]
pub struct Gateway {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    sealing: Arc<Sealing>,
}

impl Gateway {
    /// A client whose stored requests are sealed so. Fails where the machine has no certificates.
    pub fn new(sealing: Arc<Sealing>) -> std::io::Result<Self> {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(CONNECT_TIMEOUT));
        let connector = HttpsConnectorBuilder::new()
            .try_with_platform_verifier()
            .map_err(std::io::Error::other)?
            .https_or_http()
            .enable_http1()
            .wrap_connector(tcp);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_MAX)
            .http1_max_buf_size(HEAD_BYTES_MAX)
            .http1_max_headers(HEAD_LINES_MAX)
            .build(connector);
        Ok(Self { client, sealing })
    }

    /// What of a request's head is stored beside it: nothing where nothing is ever sent again, or
    /// else all of it, sealed, since any line of it may be a credential.
    pub fn stored(&self, route: &Route, scope: &Scope, head: &Head) -> Option<Vec<u8>> {
        let is_needed = !route.waits_for_operator() && !head.is_empty();
        is_needed.then(|| self.sealing.seal(scope, &head.to_bytes()))
    }

    /// Sends the request on, or, where an earlier attempt may have, does as `on_unknown` says.
    pub async fn perform(&self, upstream: &str, command: &Command, attempt: &Attempt) -> Performed {
        let route = &*command.route;
        let is_first = attempt.is_first();
        if !is_first && route.on_unknown == OnUnknown::Hold {
            return Performed::Unknown;
        }
        let Some(head) = self.head(command) else {
            return not_sent();
        };
        let asks = !is_first && route.on_unknown == OnUnknown::Ask;
        let request = match &route.status_url {
            Some(url) if asks => request::question(url, route, attempt, &head),
            _ => request::operation(upstream, &command.record, attempt, &head),
        };
        let Ok(request) = request else {
            return not_sent();
        };
        if !attempt.has_time_left() {
            return not_sent();
        }
        let deadline = Instant::now() + route.lock_ttl;
        fail_point!("before-forward", |_| std::process::abort());
        let answer = self.send(request, route.first_byte_timeout).await;
        fail_point!("forwarded", |_| std::process::abort());
        match answer {
            Ok(answer) if asks => {
                settle(verdict::of_status(route, &answer), answer, deadline).await
            }
            Ok(answer) => settle(verdict::of_answer(route, &answer), answer, deadline).await,
            Err(Unanswered::NotSent) => not_sent(),
            Err(Unanswered::MayHaveArrived) => Performed::Unknown,
        }
    }

    /// Passes a request through that nothing protects: a cut is for its client to judge.
    pub async fn pass(
        &self,
        upstream: &str,
        route: &Route,
        parts: &Parts,
        body: Bytes,
    ) -> Result<axum::response::Response, Problem> {
        let request = request::plain(upstream, route, parts, body);
        let request = request.map_err(|_| unavailable())?;
        let deadline = Instant::now() + route.lock_ttl;
        match self.send(request, route.first_byte_timeout).await {
            Ok(answer) => Ok(answer::pass(answer, deadline)),
            Err(Unanswered::NotSent) => Err(unavailable()),
            Err(Unanswered::MayHaveArrived) => Err(Problem::new(
                Kind::OutcomeUnknown,
                "The request was sent and no answer came back. It had no key: sent again, it may be done twice.",
            )
            .retry_after(1)),
        }
    }

    /// The head to send: that of the retry that is here, whose credentials are fresh, or else the
    /// stored one. `None` where that was sealed by a key that this process does not have.
    fn head(&self, command: &Command) -> Option<Head> {
        if let Some(head) = &command.head {
            return Some(Head::clone(head));
        }
        let record = &command.record;
        match head::sealed(&record.headers) {
            Some(sealed) => Head::from_bytes(&self.sealing.open(&record.scope, sealed)?),
            None => Some(Head::from(record.headers.clone())),
        }
    }

    async fn send(
        &self,
        request: Request<Full<Bytes>>,
        first_byte: Duration,
    ) -> Result<Response<Incoming>, Unanswered> {
        match timeout(first_byte, self.client.request(request)).await {
            Ok(Ok(answer)) if answer.status().is_informational() => Err(Unanswered::MayHaveArrived),
            Ok(Ok(answer)) => Ok(answer),
            // Name resolution, refusal, TLS and the connection's own timeout come before a request.
            Ok(Err(error)) if error.is_connect() => Err(Unanswered::NotSent),
            Ok(Err(_)) | Err(_) => Err(Unanswered::MayHaveArrived),
        }
    }
}

/// What an answer means, carried out.
async fn settle(verdict: Verdict, answer: Response<Incoming>, deadline: Instant) -> Performed {
    let (outcome, terms) = match verdict {
        Verdict::Unknown => return Performed::Unknown,
        Verdict::Release => {
            let passed = Box::new(answer::pass(answer, deadline));
            return Performed::Nothing(Refusal::Passed(passed));
        }
        Verdict::Archive(outcome, terms) => (outcome, terms),
    };
    match answer::read(answer, terms, deadline).await {
        Ok(Read {
            response,
            terms,
            aside,
        }) => Performed::Relay(Box::new(Relay {
            finishing: Finishing::Response {
                outcome,
                response: Arc::new(response),
            },
            terms,
            aside,
        })),
        // An answer that broke off is none (CASES C28).
        Err(_) => Performed::Unknown,
    }
}

fn not_sent() -> Performed {
    Performed::Nothing(unavailable().into())
}

fn unavailable() -> Problem {
    let detail = "The service behind this route can't be reached. Nothing was executed.";
    Problem::new(Kind::OriginUnavailable, detail).retry_after(2)
}
