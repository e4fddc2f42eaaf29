//! Free ports for programs that are started again on the same one.

use std::{
    net::{Ipv4Addr, TcpListener},
    sync::{
        LazyLock,
        atomic::{AtomicU16, Ordering},
    },
};

/// Below the range from which Linux gives ports to outgoing connections, so that nobody takes one
/// while its program is down.
const FIRST: u16 = 20_000;
const COUNT: u16 = 12_000;

/// Each process begins at a random place, and gives no port twice.
static NEXT: LazyLock<AtomicU16> = LazyLock::new(|| AtomicU16::new(random()));

/// A port of the loopback on which nothing listens.
pub fn free() -> u16 {
    let is_free = |port: &u16| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok();
    let mut ports = std::iter::repeat_with(|| FIRST + NEXT.fetch_add(1, Ordering::Relaxed) % COUNT);
    ports.find(is_free).expect("there is always another port")
}

fn random() -> u16 {
    let [.., high, low] = *uuid::Uuid::new_v4().as_bytes();
    u16::from_be_bytes([high, low])
}
