//! What tests and benchmarks need of a Worker beside the edge: the rules of canonical JSON as Wasm
//! runs them, and the plain Workers that the edge is measured against.

mod canonical;
mod digest;
mod forward;
mod object;

use worker::{Context, Env, Request, Response, Result, event};

#[event(fetch)]
async fn fetch(mut request: Request, env: Env, _: Context) -> Result<Response> {
    match request.path().as_str() {
        "/canonical" => canonical::answer(&mut request).await,
        "/digest" => digest::answer(&request).await,
        "/forward" => forward::answer(&mut request, &env).await,
        "/object" => object::answer(&env).await,
        _ => Response::ok("Hello, World!"),
    }
}
