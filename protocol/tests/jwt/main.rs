//! Bearer tokens, up to the signatures of public keys, which the shells verify.

mod keys;
mod vectors;
