//! A timer that is cleared when it is dropped.
//!
//! `worker::Delay` takes the result of `setTimeout` for a number, which it no longer is.

use protocol::flight::Millis;
use std::{
    cell::Cell,
    future::Future,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll, Waker},
};
use wasm_bindgen::{JsCast, JsValue, prelude::Closure, prelude::wasm_bindgen};
use worker::js_sys::Function;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(catch, js_name = setTimeout)]
    fn set_timeout(run: &Function, ms: f64) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(catch, js_name = clearTimeout)]
    fn clear_timeout(timer: &JsValue) -> Result<(), JsValue>;
}

/// Ready when its time is over.
pub(crate) struct Timer {
    state: Rc<State>,
    id: JsValue,
    _run: Closure<dyn FnMut()>,
}

#[derive(Default)]
struct State {
    is_over: Cell<bool>,
    waker: Cell<Option<Waker>>,
}

impl Timer {
    /// Starts now. When the runtime gives no more timers, it is over at once.
    #[expect(clippy::cast_precision_loss, reason = "no wait is longer than 2^53 ms")]
    pub(crate) fn after(ms: Millis) -> Self {
        let state = Rc::new(State::default());
        let fired = Rc::clone(&state);
        let run =
            Closure::wrap_assert_unwind_safe(Box::new(move || fired.end()) as Box<dyn FnMut()>);
        let id = set_timeout(run.as_ref().unchecked_ref(), ms as f64);
        state.is_over.set(id.is_err());
        Self {
            state,
            id: id.unwrap_or_default(),
            _run: run,
        }
    }
}

impl State {
    fn end(&self) {
        self.is_over.set(true);
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

impl Future for Timer {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.state.is_over.get() {
            return Poll::Ready(());
        }
        self.state.waker.set(Some(context.waker().clone()));
        Poll::Pending
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        if !self.state.is_over.get() {
            let _ = clear_timeout(&self.id);
        }
    }
}
