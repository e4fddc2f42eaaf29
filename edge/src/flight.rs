//! One request's flight: take the lock or join, forward, answer, land.

use crate::{
    answer::Answer,
    arrived::{Arrived, Landing},
    body::Body,
    clock,
    error::Error,
    incoming::Incoming,
    lock::{Lock, LockFailure, Taken},
    replay_cache,
    rim::Rim,
    settings::Settings,
    upstream,
    wait::Wait,
};
use futures_channel::oneshot;
use futures_util::{
    future::{Either, select},
    pin_mut,
};
use protocol::{
    identity::Identity,
    policy::{OnLockFailure, Route},
    problem::{Kind, Problem},
};
use worker::web_sys;

/// Where the client's answer goes; the client may be gone.
pub(crate) type Answered = oneshot::Sender<worker::Result<web_sys::Response>>;

/// A protected request whose names are known.
pub(crate) struct Flight {
    pub(crate) request: Incoming,
    pub(crate) body: Body,
    pub(crate) identity: Identity,
    pub(crate) route: &'static Route,
    pub(crate) settings: &'static Settings,
    pub(crate) lock: Lock,
    pub(crate) wait: Wait,
}

impl Flight {
    /// From the lock to the landing. The client has its answer before the landing begins.
    pub(crate) async fn run(self, mut rim: Rim, answered: Answered) {
        let started = clock::now();
        let taken = self.take().await;
        rim.wait_ms = Some(clock::now().saturating_sub(started));
        let holds = match taken {
            Ok(Taken::Lead) => true,
            Ok(Taken::AskOrigin) => false,
            taken => {
                let answer = taken.and_then(|taken| joined(taken, rim.applied.as_deref()));
                let _ = answered.send(rim.leave(answer));
                return;
            }
        };
        let sent = clock::now();
        let arrived = self.forward(holds).await;
        rim.origin_ms = Some(clock::now().saturating_sub(sent));
        rim.applied = None;
        let landing = self.answer(arrived, &rim, answered);
        if holds {
            self.lock.land(landing.as_ref()).await;
        }
    }

    /// Without a lock the origin still decides, unless policy would rather refuse.
    async fn take(&self) -> Result<Taken, Error> {
        let taken = self.lock.take(&self.identity, self.route, &self.wait).await;
        match (taken, self.route.on_lock_failure) {
            (Ok(taken), _) => Ok(taken),
            (Err(LockFailure::Overloaded), _) => Err(Error::LockOverloaded),
            (Err(LockFailure::Unreachable), OnLockFailure::Origin) => Ok(Taken::AskOrigin),
            (Err(LockFailure::Unreachable), OnLockFailure::Refuse) => Err(Error::LockUnavailable),
        }
    }

    /// Calls the origin, and keeps the lock while the call is up.
    async fn forward(&self, holds: bool) -> Result<Arrived, Error> {
        let Self {
            settings,
            request,
            body,
            identity,
            wait,
            ..
        } = self;
        let call = upstream::forward(settings, request, body, &identity.fingerprint, wait);
        if !holds {
            return call.await;
        }
        let renewals = self.lock.renewals();
        pin_mut!(call, renewals);
        match select(call, renewals).await {
            Either::Left((arrived, _)) => arrived,
            Either::Right((never, _)) => match never {},
        }
    }

    /// Answers the client, then gives what others may be given of it.
    fn answer(
        &self,
        arrived: Result<Arrived, Error>,
        rim: &Rim,
        answered: Answered,
    ) -> Option<Landing> {
        let arrived = match arrived {
            Ok(arrived) => arrived,
            Err(error) => {
                let _ = answered.send(rim.leave(Err(error)));
                return None;
            }
        };
        let _ = answered.send(rim.leave(Answer::arrived(&arrived)));
        let landing = arrived.landing(self.route)?;
        replay_cache::keep(&self.identity, &landing, clock::now());
        Some(landing)
    }
}

/// What the shard answers in the leader's stead.
fn joined(taken: Taken, applied: Option<&str>) -> Result<Answer, Error> {
    let problem = match taken {
        Taken::Replay(response) => return Answer::replay(&response, applied, "joined"),
        Taken::Mismatch => replay_cache::mismatch(),
        Taken::Busy { retry_after } => Problem::new(
            Kind::RequestInProgress,
            "The first request with this key is still running; retry with the same key.",
        )
        .retry_after(retry_after),
        Taken::Lead | Taken::AskOrigin => Problem::new(Kind::Internal, "The lock gave no answer."),
    };
    Err(problem.into())
}
