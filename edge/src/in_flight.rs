//! The `InFlight` shard: a Durable Object that coordinates, and nothing else (DESIGN section 2).
//!
//! It promises only to save work. It keeps nothing in storage, calls no origin and sees no request
//! body; after a reset the next request goes to the origin, which knows. Every decision is one
//! borrow without an await inside, so that no two calls interleave in it (CASES C43, C47).
//!
//! The class is written out, where `worker::durable_object` would write it: most calls are decided
//! at once and answered without a future.

use crate::{clock, incoming::target, timer::Timer};
use futures_channel::oneshot;
use futures_util::future::select;
use protocol::{
    flight::{Flights, Landing, Limits, Millis, Take, Taken},
    scope::Scope,
    wire::in_flight::{ASK_ORIGIN, BUSY, Call, LEAD, Landed, MISMATCH, REPLAY},
};
use std::{cell::RefCell, panic::AssertUnwindSafe, rc::Rc};
use wasm_bindgen::{JsValue, prelude::wasm_bindgen};
use worker::{
    js_sys::{
        Uint8Array,
        futures::{JsFuture, future_to_promise},
    },
    web_sys,
};

/// Bytes of landed responses in one object; several share an isolate's memory.
const LANDED_BYTES: usize = 4 << 20;
/// Each waiter holds a timer, of which an object has 10,000.
const WAITERS: usize = 8_000;

/// One shard of the locks and of what has just landed.
#[wasm_bindgen]
pub struct InFlight(Rc<Shard>);

struct Shard(RefCell<Flights<Rc<Vec<u8>>, oneshot::Sender<()>>>);

type Reply = Result<web_sys::Response, JsValue>;

#[wasm_bindgen]
impl InFlight {
    /// An empty shard; it needs neither storage nor bindings.
    #[wasm_bindgen(constructor)]
    pub fn new(_state: JsValue, _env: JsValue) -> Self {
        let limits = Limits {
            landed_bytes: LANDED_BYTES,
            waiters: WAITERS,
            ..Limits::default()
        };
        Self(Rc::new(Shard(RefCell::new(Flights::new(limits)))))
    }

    /// Answers a call: at once, or with a promise where it has to read or to wait.
    pub fn fetch(&self, request: web_sys::Request) -> Result<JsValue, JsValue> {
        let shard = &self.0;
        let Some(call) = Call::from_path(target(&request.url())) else {
            return Ok(status(ASK_ORIGIN)?.into());
        };
        if request.body().is_some() {
            return Ok(promise(Rc::clone(shard).receive(call, request)));
        }
        match call {
            Call::Take { take, wait } => match shard.decide(&take, wait) {
                Decision::Reply(reply) => Ok(reply?.into()),
                Decision::Wait(_) => Ok(promise(Rc::clone(shard).take(take, wait))),
            },
            Call::Renew { .. } | Call::Land => Ok(shard.renew(&call)?.into()),
        }
    }
}

enum Decision {
    Reply(Reply),
    Wait(Millis),
}

impl Shard {
    /// A call that carries landings.
    async fn receive(self: Rc<Self>, call: Call, request: web_sys::Request) -> Reply {
        let buffer = JsFuture::from(request.array_buffer()?).await?;
        let bytes = Uint8Array::new(&buffer).to_vec();
        let mut rest = bytes.as_slice();
        while let Some(landed) = Landed::decode(&mut rest) {
            self.land(&landed);
        }
        match call {
            Call::Take { take, wait } => self.take(take, wait).await,
            Call::Renew { .. } | Call::Land => self.renew(&call),
        }
    }

    fn land(&self, landed: &Landed<'_>) {
        let landing = (!landed.response.is_empty()).then(|| Landing {
            response: Rc::new(landed.response.to_vec()),
            bytes: landed.response.len(),
            keep_for: landed.keep_for,
        });
        let Landed { scope, token, .. } = landed;
        // Dropping a waiter's sender wakes it.
        drop(
            self.0
                .borrow_mut()
                .land(scope, *token, landing, clock::now()),
        );
    }

    fn renew(&self, call: &Call) -> Reply {
        let holds = match call {
            Call::Renew { scope, token } => self.0.borrow_mut().renew(scope, *token, clock::now()),
            Call::Take { .. } | Call::Land => true,
        };
        status(if holds { LEAD } else { BUSY })
    }

    /// Decides, and while another leads waits and decides again.
    async fn take(self: Rc<Self>, take: Take, mut wait: Millis) -> Reply {
        let deadline = clock::now().saturating_add(wait);
        loop {
            match self.decide(&take, wait) {
                Decision::Reply(reply) => return reply,
                Decision::Wait(longest) => self.park(&take.scope, longest).await,
            }
            wait = deadline.saturating_sub(clock::now());
        }
    }

    fn decide(&self, take: &Take, wait: Millis) -> Decision {
        let now = clock::now();
        let taken = self.0.borrow_mut().take(take, now);
        Decision::Reply(match taken {
            Taken::Lead => status(LEAD),
            Taken::Replay(response) => replay(&response),
            Taken::Wait { lease_end } if wait > 0 => {
                return Decision::Wait(wait.min(lease_end.saturating_sub(now)));
            }
            Taken::Wait { .. } | Taken::Full => self.busy(),
            Taken::Mismatch => status(MISMATCH),
            Taken::AskOrigin => status(ASK_ORIGIN),
        })
    }

    /// Sleeps until the flight lands or the time is over; its slot is free in either case.
    async fn park(&self, scope: &Scope, longest: Millis) {
        let (waker, woken) = oneshot::channel();
        if self.0.borrow_mut().park(scope, waker).is_some() {
            return;
        }
        // One more, since a timer may fire within the millisecond that it is meant to pass.
        let over = Timer::after(longest.saturating_add(1));
        drop(select(woken, over).await);
        self.0
            .borrow_mut()
            .unpark(scope, oneshot::Sender::is_canceled);
    }

    fn busy(&self) -> Reply {
        let reply = status(BUSY)?;
        let seconds = self.0.borrow().retry_after().to_string();
        reply.headers().set("retry-after", &seconds)?;
        Ok(reply)
    }
}

fn promise(reply: impl Future<Output = Reply> + 'static) -> JsValue {
    future_to_promise(AssertUnwindSafe(async { reply.await.map(JsValue::from) })).into()
}

fn status(status: u16) -> Reply {
    let init = web_sys::ResponseInit::new();
    init.set_status(status);
    web_sys::Response::new_with_opt_buffer_source_and_init(None, &init)
}

fn replay(response: &[u8]) -> Reply {
    let init = web_sys::ResponseInit::new();
    init.set_status(REPLAY);
    let body = Uint8Array::from(response);
    web_sys::Response::new_with_opt_js_u8_array_and_init(Some(&body), &init)
}
