//! `POST /digest?by=wasm&times=N`: hashes the body N times. Clocks stand still while a request
//! runs, so whoever wants to know how long that takes compares it with a request of no times.

#[path = "../../../edge/src/digest.rs"]
mod edge;

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
        Some("wasm") => by_wasm(&body, times).await?,
        Some("js") => settled(digest_canonical(&body, times)).await?,
        Some("sha2") => by_sha2(&body, times),
        Some("subtle") => settled(digest_bytes(&body, times)).await?,
        _ => return Response::error("no such way", 404),
    };
    Response::ok(hex::encode(&digest))
}

/// The edge, too, copies the body once: from JavaScript's memory into that of Wasm.
fn copied(body: &ArrayBuffer) -> Vec<u8> {
    Uint8Array::new(body).to_vec()
}

/// As the edge does it.
async fn by_wasm(body: &ArrayBuffer, times: u32) -> Result<Vec<u8>> {
    let mut digest = Vec::new();
    for _ in 0..times {
        let body = copied(body);
        let text = canonical::text(&body, &Selection::whole()).map_err(refused)?;
        digest = edge::sha256(&text).await.to_vec();
    }
    Ok(digest)
}

fn by_sha2(body: &ArrayBuffer, times: u32) -> Vec<u8> {
    (0..times).fold(Vec::new(), |_, _| {
        black_box(Sha256::digest(copied(body))).to_vec()
    })
}

async fn settled(digest: Promise) -> Result<Vec<u8>> {
    let digest: JsValue = JsFuture::from(digest).await?;
    Ok(Uint8Array::new(&digest).to_vec())
}

fn refused(error: canonical::CanonicalError) -> Error {
    Error::RustError(error.to_string())
}
