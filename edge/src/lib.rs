//! The edge: a Worker that absorbs duplicates next to the client (DESIGN section 2).
//!
//! No right answer depends on it: the origin decides in any case. Nothing here panics: a panic
//! would reset every request of the isolate.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing
    )
)]

mod answer;
mod arrived;
mod body;
mod clock;
mod cors;
mod credentials;
mod digest;
mod error;
mod fields;
mod flight;
mod in_flight;
mod incoming;
mod key_set;
mod landings;
mod lock;
mod passage;
mod probe;
mod protected;
mod replay_cache;
mod rim;
mod settings;
mod timer;
mod upstream;
mod wait;

pub use in_flight::InFlight;

use crate::{answer::Answer, incoming::Incoming, rim::Rim, settings::Settings};
use wasm_bindgen::JsValue;
use worker::{Context, Env, event, web_sys};

/// The edge's own address, which answers while the isolate lives; `/healthz` is the origin's.
const HEALTH: &str = "/.well-known/unavez-edge";

#[event(start)]
fn start() -> Result<(), JsValue> {
    in_flight::derive()
}

#[event(fetch)]
async fn fetch(
    request: web_sys::Request,
    env: Env,
    context: Context,
) -> worker::Result<web_sys::Response> {
    let request = Incoming::new(request);
    let settings = match Settings::of(&env) {
        Ok(settings) => settings,
        Err(error) => return Rim::new(&request, None).leave(Err(error)),
    };
    let allowed = cors::allowed(&settings.policy, &request);
    if let Some(route) = settings.policy.route(&request.method, request.path()) {
        let mut rim = Rim::new(&request, allowed);
        rim.route = Some(route.name());
        return protected::answer(request, route, settings, rim, &env, &context).await;
    }
    let answer = if request.path() == HEALTH {
        Answer::health()
    } else if let Some(asked) = cors::preflight(&settings.policy, &request) {
        Answer::preflight(&asked, allowed.as_deref())
    } else {
        passage::pass(&request, settings).await
    };
    Rim::new(&request, None).leave(answer)
}
