//! SHA-256 of bytes in Wasm's memory, by whichever way is faster.

use sha2::{Digest as _, Sha256};
use wasm_bindgen::{JsValue, prelude::wasm_bindgen};
use worker::js_sys::{Promise, Uint8Array, futures::JsFuture};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(catch, js_namespace = ["crypto", "subtle"], js_name = digest)]
    fn subtle_digest(algorithm: &str, bytes: &[u8]) -> Result<Promise, JsValue>;
}

/// From this many bytes on the runtime's own code, which has the processor's instructions for
/// SHA-256, saves more than its promise costs: see `cargo xtask bench hash`.
const LONG: usize = 8 << 10;

/// The digest.
pub(crate) async fn sha256(bytes: &[u8]) -> [u8; 32] {
    let native = if bytes.len() < LONG {
        None
    } else {
        by_runtime(bytes).await
    };
    native.unwrap_or_else(|| Sha256::digest(bytes).into())
}

/// The runtime copies the bytes before it returns the promise (Web Cryptography, section 14.3.5).
async fn by_runtime(bytes: &[u8]) -> Option<[u8; 32]> {
    let promise = subtle_digest("SHA-256", bytes).ok()?;
    let digest: JsValue = JsFuture::from(promise).await.ok()?;
    Uint8Array::new(&digest).to_vec().try_into().ok()
}
