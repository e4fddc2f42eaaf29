//! The kit that development and tests share.

pub mod provider;
