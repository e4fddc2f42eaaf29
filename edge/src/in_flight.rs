//! The `InFlight` shard: a Durable Object that coordinates, and nothing else (DESIGN section 2).
//!
//! It promises only to save work. It keeps nothing in storage, calls no origin and sees no request
//! body; after a reset the next request goes to the origin, which knows. Every decision is one
//! borrow without an await inside, so that no two calls interleave in it (CASES C43, C47).
#![expect(missing_docs, reason = "the macro's own methods have none")]

use crate::{clock, timer::Timer};
use futures_channel::oneshot;
use futures_util::future::select;
use protocol::{
    flight::{Flights, Landing, Limits, Millis, Take, Taken},
    scope::Scope,
    wire::in_flight::{ASK_ORIGIN, BUSY, Call, LEAD, MISMATCH, REPLAY},
};
use std::{cell::RefCell, rc::Rc};
use worker::{
    DurableObject, Env, Request, Response, ResponseBuilder, Result, State, durable_object,
    js_sys::Uint8Array, js_sys::futures::JsFuture, web_sys,
};

/// Bytes of landed responses in one object; several share an isolate's memory.
const LANDED_BYTES: usize = 4 << 20;
/// Each waiter holds a timer, of which an object has 10,000.
const WAITERS: usize = 8_000;

/// One shard of the locks and of what has just landed.
#[durable_object(fetch)]
pub struct InFlight {
    flights: RefCell<Flights<Rc<Vec<u8>>, oneshot::Sender<()>>>,
}

impl DurableObject for InFlight {
    fn new(_: State, _: Env) -> Self {
        let limits = Limits {
            landed_bytes: LANDED_BYTES,
            waiters: WAITERS,
            ..Limits::default()
        };
        Self {
            flights: RefCell::new(Flights::new(limits)),
        }
    }

    async fn fetch(&self, request: Request) -> Result<Response> {
        match Call::from_path(&request.path()) {
            Some(Call::Take { take, wait }) => self.take(&take, wait).await,
            Some(Call::Renew { scope, token }) => {
                let renewed = self.flights.borrow_mut().renew(&scope, token, clock::now());
                Ok(status(if renewed { LEAD } else { BUSY }))
            }
            Some(Call::Land {
                scope,
                token,
                keep_for,
            }) => {
                let buffer = JsFuture::from(request.inner().array_buffer()?).await?;
                let bytes = Uint8Array::new(&buffer).to_vec();
                let landing = (!bytes.is_empty()).then(|| Landing {
                    bytes: bytes.len(),
                    response: Rc::new(bytes),
                    keep_for,
                });
                // Dropping a waiter's sender wakes it.
                drop(
                    self.flights
                        .borrow_mut()
                        .land(&scope, token, landing, clock::now()),
                );
                Ok(status(LEAD))
            }
            None => Ok(status(ASK_ORIGIN)),
        }
    }
}

impl InFlight {
    /// Decides, and while another leads waits and decides again.
    async fn take(&self, take: &Take, wait: Millis) -> Result<Response> {
        let deadline = clock::now().saturating_add(wait);
        loop {
            let now = clock::now();
            let taken = self.flights.borrow_mut().take(take, now);
            match taken {
                Taken::Lead => return Ok(status(LEAD)),
                Taken::Replay(response) => return replay(&response),
                Taken::Wait { lease_end } if now < deadline => {
                    self.park(&take.scope, lease_end.min(deadline).saturating_sub(now))
                        .await;
                }
                Taken::Wait { .. } | Taken::Full => return self.busy(),
                Taken::Mismatch => return Ok(status(MISMATCH)),
                Taken::AskOrigin => return Ok(status(ASK_ORIGIN)),
            }
        }
    }

    /// Sleeps until the flight lands or the time is over; its slot is free in either case.
    async fn park(&self, scope: &Scope, longest: Millis) {
        let (waker, woken) = oneshot::channel();
        if self.flights.borrow_mut().park(scope, waker).is_some() {
            return;
        }
        // One more, since a timer may fire within the millisecond that it is meant to pass.
        let over = Timer::after(longest.saturating_add(1));
        drop(select(woken, over).await);
        self.flights
            .borrow_mut()
            .unpark(scope, oneshot::Sender::is_canceled);
    }

    fn busy(&self) -> Result<Response> {
        let seconds = self.flights.borrow().retry_after().to_string();
        let builder = ResponseBuilder::new().with_status(BUSY);
        Ok(builder.with_header("retry-after", &seconds)?.empty())
    }
}

fn status(status: u16) -> Response {
    ResponseBuilder::new().with_status(status).empty()
}

fn replay(response: &[u8]) -> Result<Response> {
    let init = web_sys::ResponseInit::new();
    init.set_status(REPLAY);
    let body = Uint8Array::from(response);
    Ok(web_sys::Response::new_with_opt_js_u8_array_and_init(Some(&body), &init)?.into())
}
