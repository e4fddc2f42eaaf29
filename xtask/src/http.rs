//! Just enough HTTP to ask whether a program is ready.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(2);

/// The status that 127.0.0.1:`port` answers to `GET path`, if it answers within two seconds.
pub fn status(port: u16, path: &str) -> Option<u16> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let mut stream = TcpStream::connect_timeout(&address, LIMIT).ok()?;
    stream.set_read_timeout(Some(LIMIT)).ok()?;
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = [0; "HTTP/1.1 200".len()];
    stream.read_exact(&mut answer).ok()?;
    std::str::from_utf8(&answer)
        .ok()?
        .rsplit(' ')
        .next()?
        .parse()
        .ok()
}
