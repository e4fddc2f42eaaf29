//! Free ports for programs that are started again on the same one.

use std::net::{Ipv4Addr, TcpListener};

/// Below the range from which Linux gives ports to outgoing connections, so that nobody takes one
/// while its program is down.
const FIRST: u16 = 20_000;
const COUNT: u16 = 12_000;

/// A port of the loopback on which nothing listens, drawn at random so that tests beside this one
/// draw others.
pub fn free() -> u16 {
    let is_free = |port: &u16| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok();
    let mut drawn = std::iter::repeat_with(|| FIRST + random() % COUNT);
    drawn.find(is_free).expect("there is always another draw")
}

fn random() -> u16 {
    let [.., high, low] = *uuid::Uuid::new_v4().as_bytes();
    u16::from_be_bytes([high, low])
}
