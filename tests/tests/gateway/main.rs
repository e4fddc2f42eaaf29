//! Any HTTP service behind a route: the whole system in front of a small Node server.

mod answers;
mod call;
mod cases;
mod commands;
mod keys;
mod limits;
mod operators;
mod outcomes;
mod persistence;
mod requests;
mod retention;
