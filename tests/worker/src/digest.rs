//! `POST /digest?by=wasm&times=N`: hashes the body N times. Clocks stand still while a request
//! runs, so whoever wants to know how long that takes compares it with a request of no times.

use protocol::{
    canonical::{self, Selection},
    wire::hex,
};
use sha2::{Digest as _, Sha256};
use std::hint::black_box;
use wasm_bindgen::{JsValue, prelude::wasm_bindgen};
use worker::{
    Error, Request, Response, Result,
    js_sys::{ArrayBuffer, Promise, Uint8Array, futures::JsFuture},
    wasm_bindgen::JsCast,
};

#[wasm_bindgen(module = "/src/digest.js")]
extern "C" {
    #[wasm_bindgen(js_name = digestCanonical)]
    fn digest_canonical(body: &ArrayBuffer, times: u32) -> Promise;
    #[wasm_bindgen(js_name = digestBytes)]
    fn digest_bytes(body: &ArrayBuffer, times: u32) -> Promise;
    #[wasm_bindgen(js_name = subtleDigest)]
    fn subtle_digest(bytes: &[u8]) -> Promise;
}

pub(crate) async fn answer(request: &Request) -> Result<Response> {
    let url = request.url()?;
    let parameter = |name| {
        let mut pairs = url.query_pairs();
        pairs.find_map(|(parameter, value)| (parameter == name).then(|| value.into_owned()))
    };
    let times = parameter("times").and_then(|times| times.parse().ok());
    let times: u32 = times.unwrap_or(1);
    let body = JsFuture::from(request.inner().array_buffer()?).await?;
    let body: ArrayBuffer = body.unchecked_into();
    let digest = match parameter("by").as_deref() {
        Some("wasm") => repeat(times, || by_wasm(&copied(&body)))?,
        Some("wasm-subtle") => by_wasm_and_subtle(&body, times).await?,
        Some("js") => settled(digest_canonical(&body, times)).await?,
        Some("sha2") => repeat(times, || Ok(Sha256::digest(copied(&body)).to_vec()))?,
        Some("subtle") => settled(digest_bytes(&body, times)).await?,
        _ => return Response::error("no such way", 404),
    };
    Response::ok(hex::encode(&digest))
}

/// The edge, too, copies the body once: from JavaScript's memory into that of Wasm.
fn copied(body: &ArrayBuffer) -> Vec<u8> {
    Uint8Array::new(body).to_vec()
}

fn repeat(times: u32, digest: impl Fn() -> Result<Vec<u8>>) -> Result<Vec<u8>> {
    (0..times).try_fold(Vec::new(), |_, _| black_box(digest()))
}

fn by_wasm(body: &[u8]) -> Result<Vec<u8>> {
    let digest = canonical::digest(body, &Selection::whole());
    digest.map(Vec::from).map_err(refused)
}

async fn by_wasm_and_subtle(body: &ArrayBuffer, times: u32) -> Result<Vec<u8>> {
    let mut digest = Vec::new();
    for _ in 0..times {
        let text = canonical::text(&copied(body), &Selection::whole()).map_err(refused)?;
        digest = settled(subtle_digest(&text)).await?;
    }
    Ok(digest)
}

async fn settled(digest: Promise) -> Result<Vec<u8>> {
    let digest: JsValue = JsFuture::from(digest).await?;
    Ok(Uint8Array::new(&digest).to_vec())
}

fn refused(error: canonical::CanonicalError) -> Error {
    Error::RustError(error.to_string())
}
