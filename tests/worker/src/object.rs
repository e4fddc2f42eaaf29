//! `/object`: a Durable Object that only answers.

use worker::{DurableObject, Env, Request, Response, Result, State, durable_object};

/// Stands where the edge has its own object, so that both run in the same configuration.
#[durable_object(fetch)]
pub struct InFlight;

impl DurableObject for InFlight {
    fn new(_: State, _: Env) -> Self {
        Self
    }

    async fn fetch(&self, _: Request) -> Result<Response> {
        Response::ok("Hello, World!")
    }
}

pub(crate) async fn answer(env: &Env) -> Result<Response> {
    let object = env.durable_object("IN_FLIGHT")?.get_by_name("one")?;
    object.fetch_with_str("https://object/").await
}
