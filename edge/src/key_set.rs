//! The keys as they stand in this isolate: configured ones, and those of a URL, fetched again when
//! a token asks for an unknown one or they have become old.

use crate::{clock, error::Error, error::text, timer::Timer, upstream};
use futures_util::{
    future::{Either, select},
    pin_mut,
};
use protocol::{
    flight::Millis,
    jwt::{Keys, Rotation},
    problem::{Kind, Problem},
};
use std::{cell::RefCell, rc::Rc};
use worker::{console_error, js_sys::futures::JsFuture, wasm_bindgen::JsCast, web_sys};

/// The longest that a token waits for its keys.
const FETCH_WITHIN_MS: Millis = 3_000;
/// How often a request looks whether another one's fetch has ended: promises are not shared.
const LOOK_EVERY_MS: Millis = 20;

/// Where keys come from.
#[derive(Debug)]
pub(crate) struct Source {
    /// Those that never change.
    pub(crate) fixed: Keys,
    /// Where their issuer publishes others.
    pub(crate) url: Option<String>,
}

/// Keys, and which fetch they are of.
#[derive(Clone)]
pub(crate) struct Known {
    /// All that may have signed a token.
    pub(crate) keys: Rc<Keys>,
    fetch: u64,
}

#[derive(Default)]
struct KeySet {
    known: Option<Known>,
    rotation: Rotation,
    fetching_since: Option<Millis>,
}

/// What a request that wants newer keys has to do.
enum Step {
    Done,
    Fetch,
    Wait,
}

thread_local! {
    static SET: RefCell<KeySet> = RefCell::default();
}

/// The keys to judge by. Whoever finds them old fetches them while the others go on.
pub(crate) async fn current(source: &Source) -> Known {
    let known = SET.with_borrow_mut(|set| set.known(source));
    let is_due =
        SET.with_borrow(|set| set.rotation.is_due(seconds()) && set.fetching_since.is_none());
    if !is_due {
        return known;
    }
    after(source, &known).await.unwrap_or(known)
}

/// The keys after those in which one was missing; 503 where they can't be had.
pub(crate) async fn after(source: &Source, stale: &Known) -> Result<Known, Error> {
    let Some(url) = &source.url else {
        return Ok(stale.clone());
    };
    loop {
        match SET.with_borrow_mut(|set| set.step(stale, clock::now())) {
            Step::Fetch => {
                let fetched = fetch(url).await;
                SET.with_borrow_mut(|set| set.end(source, fetched));
            }
            Step::Wait => Timer::after(LOOK_EVERY_MS).await,
            Step::Done => return SET.with_borrow_mut(|set| set.outcome(source, stale)),
        }
    }
}

impl KeySet {
    fn known(&mut self, source: &Source) -> Known {
        let first = || Known {
            keys: Rc::new(source.fixed.clone()),
            fetch: 0,
        };
        self.known.get_or_insert_with(first).clone()
    }

    fn step(&mut self, stale: &Known, now: Millis) -> Step {
        if self
            .known
            .as_ref()
            .is_none_or(|known| known.fetch != stale.fetch)
        {
            return Step::Done;
        }
        // A fetch that has not ended by now never will: its request is gone.
        let is_fetching = |since| now.saturating_sub(since) <= FETCH_WITHIN_MS;
        if self.fetching_since.is_some_and(is_fetching) {
            return Step::Wait;
        }
        if !self.rotation.begin(now / 1_000) {
            return Step::Done;
        }
        self.fetching_since = Some(now);
        Step::Fetch
    }

    /// A failed fetch counts as one too, so that those who waited for it go on.
    fn end(&mut self, source: &Source, fetched: Result<Keys, String>) {
        self.fetching_since = None;
        self.rotation.end(seconds(), fetched.is_ok());
        let last = self.known(source);
        let keys = match fetched {
            Ok(keys) => Rc::new(source.fixed.clone().and(keys)),
            Err(error) => {
                console_error!("the key set can't be read; the last one stays: {error}");
                last.keys
            }
        };
        self.known = Some(Known {
            keys,
            fetch: last.fetch + 1,
        });
    }

    fn outcome(&mut self, source: &Source, stale: &Known) -> Result<Known, Error> {
        let known = self.known(source);
        if self.rotation.has_failed() && Rc::ptr_eq(&known.keys, &stale.keys) {
            let detail = "The issuer's keys can't be reached. Nothing was executed.";
            return Err(Problem::new(Kind::OriginUnavailable, detail)
                .retry_after(2)
                .into());
        }
        Ok(known)
    }
}

fn seconds() -> u64 {
    clock::now() / 1_000
}

async fn fetch(url: &str) -> Result<Keys, String> {
    let (read, late) = (read(url), Timer::after(FETCH_WITHIN_MS));
    pin_mut!(read, late);
    match select(read, late).await {
        Either::Left((text, _)) => Keys::from_jwks(&text?).map_err(|error| error.to_string()),
        Either::Right(_) => Err("no answer within 3 s".into()),
    }
}

async fn read(url: &str) -> Result<String, String> {
    let response = upstream::get(url).map_err(text)?;
    let response = JsFuture::from(response).await.map_err(text)?;
    let response: web_sys::Response = response.unchecked_into();
    if !response.ok() {
        return Err(format!("status {}", response.status()));
    }
    let body = JsFuture::from(response.text().map_err(text)?)
        .await
        .map_err(text)?;
    Ok(body.as_string().unwrap_or_default())
}
