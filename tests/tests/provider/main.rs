//! The sandbox provider alone, over real HTTP.

mod client;
mod controls;
mod faults;
mod idempotency;
mod payments;
mod program;
mod refunds;
mod search;
