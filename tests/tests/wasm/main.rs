//! The rules of `protocol` as Wasm runs them, on real workerd.

mod canonical;
mod jwt;
mod key_set;
