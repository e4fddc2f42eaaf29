//! The `InFlight` shard: a Durable Object that coordinates, and nothing else (DESIGN section 2).
//!
//! It promises only to save work. It keeps nothing in storage, calls no origin and sees no request
//! body; after a reset the next request goes to the origin, which knows. Every decision is one
//! borrow without an await inside, so that no two calls interleave in it (CASES C43, C47).
//!
//! The class is written out, where `worker::durable_object` would write it: it is called as RPC,
//! which costs half of what a request costs, and most calls are decided without a future.

use crate::{clock, timer::Timer};
use futures_channel::oneshot;
use futures_util::future::select;
use protocol::{
    flight::{Flights, Landing, Limits, Millis, Take, Taken},
    scope::Scope,
    wire::in_flight::{Call, Landed, Reply},
};
use std::{cell::RefCell, panic::AssertUnwindSafe, rc::Rc};
use wasm_bindgen::{JsValue, prelude::wasm_bindgen};
use worker::js_sys::{Object, Reflect, Uint8Array, futures::future_to_promise};

/// Bytes of landed responses in one object; several share an isolate's memory.
const LANDED_BYTES: usize = 2 << 20;
/// Each waiter holds a timer, of which an object has 10,000.
const WAITERS: usize = 8_000;

/// One shard of the locks and of what has just landed.
#[wasm_bindgen]
pub struct InFlight(Rc<Shard>);

struct Shard(RefCell<Flights<Rc<Vec<u8>>, oneshot::Sender<()>>>);

#[wasm_bindgen(module = "cloudflare:workers")]
extern "C" {
    #[wasm_bindgen(thread_local_v2, js_name = DurableObject)]
    static DURABLE_OBJECT: JsValue;
}

/// Makes the class derive from the runtime's, whose objects alone take RPC.
pub(crate) fn derive() -> Result<(), JsValue> {
    let shard = JsValue::from(InFlight::new(JsValue::UNDEFINED, JsValue::UNDEFINED));
    let class = Object::from(Reflect::get(&shard, &"constructor".into())?);
    let prototype = |class: &JsValue| Reflect::get(class, &"prototype".into()).map(Object::from);
    DURABLE_OBJECT.with(|base| {
        Object::set_prototype_of(&prototype(&class)?, &prototype(base)?);
        Object::set_prototype_of(&class, &Object::from(base.clone()));
        Ok(())
    })
}

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

    /// Takes landings in, then answers a call: at once, or with a promise where it has to wait.
    pub fn ask(&self, words: &str, landings: Option<Box<[u8]>>) -> JsValue {
        let shard = &self.0;
        shard.land_all(&landings.unwrap_or_default());
        match Call::from_words(words) {
            Some(Call::Take { take, wait }) => match shard.decide(&take, wait) {
                Decision::Reply(reply) => reply,
                Decision::Wait(_) => promise(Rc::clone(shard).take(take, wait)),
            },
            Some(Call::Renew { scope, token }) => {
                let holds = shard.0.borrow_mut().renew(&scope, token, clock::now());
                number(if holds { Reply::Lead } else { shard.busy() })
            }
            Some(Call::Land) => number(Reply::Lead),
            None => number(Reply::AskOrigin),
        }
    }
}

enum Decision {
    Reply(JsValue),
    Wait(Millis),
}

impl Shard {
    fn land_all(&self, mut landings: &[u8]) {
        while let Some(landed) = Landed::decode(&mut landings) {
            self.land(&landed);
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

    /// Decides, and while another leads waits and decides again.
    async fn take(self: Rc<Self>, take: Take, mut wait: Millis) -> JsValue {
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
        Decision::Reply(number(match taken {
            Taken::Replay(response) => {
                return Decision::Reply(Uint8Array::from(response.as_slice()).into());
            }
            Taken::Wait { lease_end } if wait > 0 => {
                return Decision::Wait(wait.min(lease_end.saturating_sub(now)));
            }
            Taken::Wait { .. } | Taken::Full => self.busy(),
            Taken::Lead => Reply::Lead,
            Taken::Mismatch => Reply::Mismatch,
            Taken::AskOrigin => Reply::AskOrigin,
        }))
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
        let retry_after = self.0.borrow().retry_after();
        Reply::Busy { retry_after }
    }
}

fn promise(reply: impl Future<Output = JsValue> + 'static) -> JsValue {
    future_to_promise(AssertUnwindSafe(async { Ok(reply.await) })).into()
}

fn number(reply: Reply) -> JsValue {
    reply.to_number().into()
}
