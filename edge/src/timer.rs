//! A timer that is cleared when it is dropped.
//!
//! `worker::Delay` takes the result of `setTimeout` for a number, which it no longer is.

use protocol::flight::Millis;
use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};
use wasm_bindgen::{JsValue, prelude::wasm_bindgen};
use worker::js_sys::{Function, Promise, futures::JsFuture};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(catch, js_name = setTimeout)]
    fn set_timeout(run: &Function, ms: f64) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(catch, js_name = clearTimeout)]
    fn clear_timeout(timer: &JsValue) -> Result<(), JsValue>;
}

/// Ready when its time is over.
pub(crate) struct Timer {
    over: JsFuture,
    id: JsValue,
}

impl Timer {
    /// Starts now. When the runtime gives no more timers, it is over at once.
    #[expect(clippy::cast_precision_loss, reason = "no wait is longer than 2^53 ms")]
    pub(crate) fn after(ms: Millis) -> Self {
        let mut id = JsValue::UNDEFINED;
        let promise = Promise::new(&mut |resolve, _| match set_timeout(&resolve, ms as f64) {
            Ok(timer) => id = timer,
            Err(_) => drop(resolve.call0(&JsValue::UNDEFINED)),
        });
        Self {
            over: JsFuture::from(promise),
            id,
        }
    }
}

impl Future for Timer {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.over).poll(context).map(drop)
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        let _ = clear_timeout(&self.id);
    }
}
