//! The Worker's side of the `InFlight` shard.

use crate::{
    arrived::Landing, clock, error::Error, landings, landings::LINGER_MS, settings::Settings,
    timer::Timer, wait::Wait,
};
use futures_util::future::{Either, pending, select};
use futures_util::pin_mut;
use protocol::{
    flight::{Millis, Take, Token},
    identity::Identity,
    policy::Route,
    principal::Principal,
    response::Response,
    scope::Scope,
    wire::in_flight::{Call, Landed, Reply, object_name},
};
use std::convert::Infallible;
use wasm_bindgen::{JsCast, JsValue, prelude::wasm_bindgen};
use worker::{
    Env, ObjectNamespace,
    js_sys::{self, Promise, Reflect, Uint8Array, futures::JsFuture},
};

/// The binding of the class.
const BINDING: &str = "IN_FLIGHT";
/// How often a leader renews its lock; well within the shard's lease.
const RENEW_EVERY_MS: Millis = 2_000;
/// How often a call is tried anew after an error that passes.
const TRIES_MAX: u32 = 3;
/// Beyond the wait, after which a shard that has not answered is given up.
const ANSWER_WITHIN_MS: Millis = 5_000;

/// The lock of one scope, and the token by which this request holds it.
pub(crate) struct Lock {
    namespace: ObjectNamespace,
    name: String,
    scope: Scope,
    token: Token,
}

/// What the shard says to a take.
pub(crate) enum Taken {
    /// The lock is ours.
    Lead,
    /// The leader's answer.
    Replay(Response),
    /// Another leads and the wait is over.
    Busy {
        /// Seconds.
        retry_after: u32,
    },
    /// The key names another command.
    Mismatch,
    /// The shard can't tell.
    AskOrigin,
}

/// Why there is no lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LockFailure {
    /// The object has too many calls; another one would make it worse.
    Overloaded,
    /// The object can't be reached, or does not answer.
    Unreachable,
}

/// What a failed call to an object calls for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Remedy {
    TryAgain,
    GiveUp(LockFailure),
}

#[wasm_bindgen]
extern "C" {
    /// What `InFlight` shows of itself.
    #[wasm_bindgen(extends = js_sys::Object)]
    type Shard;
    #[wasm_bindgen(method, catch)]
    fn ask(this: &Shard, words: &str) -> Result<Promise, JsValue>;
    #[wasm_bindgen(method, catch, js_name = ask)]
    fn ask_with(this: &Shard, words: &str, landings: &Uint8Array) -> Result<Promise, JsValue>;

    #[wasm_bindgen(js_namespace = crypto, js_name = randomUUID)]
    fn random_uuid() -> String;
}

impl Lock {
    /// Names the shard and draws a token. Nothing is sent yet.
    pub(crate) fn new(
        env: &Env,
        settings: &Settings,
        continent: &str,
        principal: &Principal,
        scope: &Scope,
    ) -> Result<Self, Error> {
        let namespace = env
            .durable_object(BINDING)
            .map_err(|_| Error::Setting("the binding IN_FLIGHT is missing"))?;
        let name = object_name(continent, principal, scope, settings.lock_shards);
        Ok(Self {
            namespace,
            name,
            scope: *scope,
            token: token(),
        })
    }

    /// Takes the lock, or the leader's answer within the wait. The token makes trying again safe.
    pub(crate) async fn take(
        &self,
        identity: &Identity,
        route: &Route,
        wait: &Wait,
    ) -> Result<Taken, LockFailure> {
        let lock_ttl = Millis::try_from(route.lock_ttl.as_millis()).unwrap_or(Millis::MAX);
        let Identity {
            scope, fingerprint, ..
        } = *identity;
        let take = Take {
            scope,
            fingerprint,
            token: self.token,
            lock_ttl,
        };
        let aboard = landings::aboard(&self.name, clock::now());
        for tried in 1.. {
            let rest = wait.rest(clock::now());
            let call = Call::Take { take, wait: rest };
            let replied = self.call_within(&call, &aboard, rest + ANSWER_WITHIN_MS);
            let thrown = match replied.await? {
                Ok(reply) => return Ok(read(&reply)),
                Err(thrown) => thrown,
            };
            match remedy(&thrown) {
                Remedy::TryAgain if tried < TRIES_MAX => Timer::after(backoff_ms(tried)).await,
                Remedy::TryAgain => break,
                Remedy::GiveUp(failure) => return Err(failure),
            }
        }
        Err(LockFailure::Unreachable)
    }

    async fn call_within(
        &self,
        call: &Call,
        landings: &[u8],
        longest: Millis,
    ) -> Result<Result<JsValue, JsValue>, LockFailure> {
        let (reply, late) = (self.call(call, landings), Timer::after(longest));
        pin_mut!(reply, late);
        match select(reply, late).await {
            Either::Left((reply, _)) => Ok(reply),
            Either::Right(_) => Err(LockFailure::Unreachable),
        }
    }

    /// Renews for as long as it is awaited and the lock is ours.
    pub(crate) async fn renewals(&self) -> Infallible {
        let call = Call::Renew {
            scope: self.scope,
            token: self.token,
        };
        loop {
            Timer::after(RENEW_EVERY_MS).await;
            let renewed = self.call(&call, &[]).await;
            if renewed.is_ok_and(|reply| number(&reply) != Reply::Lead) {
                pending::<()>().await;
            }
        }
    }

    /// Ends the flight, with what others may be given. When the call is lost, the lease ends it.
    pub(crate) async fn land(&self, landing: Option<&Landing>) {
        let response = landing.map(|landing| landing.response.encode());
        let landed = Landed {
            scope: self.scope,
            token: self.token,
            keep_for: landing.map_or(0, |landing| landing.keep_for),
            response: response.as_deref().unwrap_or_default(),
        };
        if landings::add(&self.name, &landed, clock::now()) {
            Timer::after(LINGER_MS).await;
        }
        let left = landings::left(&self.name);
        if !left.is_empty() {
            let _ = self.call(&Call::Land, &left).await;
        }
    }

    /// One call, each through a stub of its own: a stub stays broken after an error.
    async fn call(&self, call: &Call, landings: &[u8]) -> Result<JsValue, JsValue> {
        let shard: Shard = self.namespace.get_by_name(&self.name)?.into_rpc();
        let words = call.to_words();
        let reply = if landings.is_empty() {
            shard.ask(&words)?
        } else {
            shard.ask_with(&words, &Uint8Array::from(landings))?
        };
        JsFuture::from(reply).await
    }
}

fn read(reply: &JsValue) -> Taken {
    if let Some(bytes) = reply.dyn_ref::<Uint8Array>() {
        let response = Response::decode(&bytes.to_vec());
        return response.map_or(Taken::AskOrigin, Taken::Replay);
    }
    match number(reply) {
        Reply::Lead => Taken::Lead,
        Reply::Busy { retry_after } => Taken::Busy { retry_after },
        Reply::Mismatch => Taken::Mismatch,
        Reply::AskOrigin => Taken::AskOrigin,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number that is no u32 becomes one, and at worst a wait"
)]
fn number(reply: &JsValue) -> Reply {
    Reply::from_number(reply.as_f64().unwrap_or_default() as u32)
}

/// Reads the marks that the runtime puts on an object's errors.
fn remedy(thrown: &JsValue) -> Remedy {
    let is = |mark: &str| Reflect::get(thrown, &mark.into()).is_ok_and(|mark| mark.is_truthy());
    remedy_of(is("retryable"), is("overloaded"))
}

/// An overloaded object's errors may be marked retryable too: trying again would make it worse.
fn remedy_of(is_retryable: bool, is_overloaded: bool) -> Remedy {
    match (is_retryable, is_overloaded) {
        (_, true) => Remedy::GiveUp(LockFailure::Overloaded),
        (true, false) => Remedy::TryAgain,
        (false, false) => Remedy::GiveUp(LockFailure::Unreachable),
    }
}

/// 10 to 20 ms, doubled with each try, so that callers of a reset object come back apart.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "at most 160"
)]
fn backoff_ms(tried: u32) -> Millis {
    let jitter = 1.0 + js_sys::Math::random();
    (f64::from(5_u32 << tried) * jitter) as Millis
}

/// A random token, so that nobody else can renew or land.
fn token() -> Token {
    let digits: String = random_uuid().split('-').collect();
    Token(protocol::wire::hex::decode(&digits).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overload_is_never_answered_with_another_try() {
        assert_eq!(
            remedy_of(true, true),
            Remedy::GiveUp(LockFailure::Overloaded)
        );
        assert_eq!(
            remedy_of(false, true),
            Remedy::GiveUp(LockFailure::Overloaded)
        );
        assert_eq!(remedy_of(true, false), Remedy::TryAgain);
        assert_eq!(
            remedy_of(false, false),
            Remedy::GiveUp(LockFailure::Unreachable)
        );
    }
}
