//! `POST /forward`: reads the body and forwards the request, as a Worker without Unavez would.

use worker::{Env, Fetch, Request, RequestInit, Response, Result, js_sys::Uint8Array};

pub(crate) async fn answer(request: &mut Request, env: &Env) -> Result<Response> {
    let body = request.bytes().await?;
    let mut init = RequestInit::new();
    init.with_method(request.method())
        .with_headers(request.headers().clone())
        .with_body(Some(Uint8Array::from(body.as_slice()).into()));
    let origin = env.var("ORIGIN_URL")?.to_string();
    let forwarded = Request::new_with_init(&origin, &init)?;
    Fetch::Request(forwarded).send().await
}
