//! One operation, once: the whole system through the edge, on real workerd, Postgres and provider.

mod browsers;
mod callers;
mod cases;
mod commands;
mod concurrency;
mod crashes;
mod crowd;
mod discovery;
mod events;
mod failures;
mod hostile;
mod identity;
mod keys;
mod orders;
mod passage;
mod persistence;
mod problems;
mod retention;
mod shard;
mod signature;
mod statements;
mod status;
mod store;
mod thread;
mod unknown;
