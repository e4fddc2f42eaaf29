//! The pure rules of Unavez, the same in the edge (Wasm) and at the origin (native).
//!
//! Nothing here does I/O, reads a clock or awaits; `now` is always an argument. Nothing here
//! panics: in the edge a panic would reset every request of the isolate.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing
    )
)]

pub mod canonical;
pub mod fingerprint;
pub mod flight;
mod framing;
pub mod identity;
pub mod jwt;
pub mod key;
pub mod policy;
pub mod principal;
pub mod problem;
pub mod record;
pub mod response;
pub mod scope;
pub mod wire;
