//! A load generator that costs little beside what it measures: connections that are kept open, each
//! with one request at a time, and answers that are read to their end.

use std::{
    net::SocketAddr,
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
};
use xtask::failure::{Failure, Result};

/// A canonical order.
pub(crate) const BODY: &str = r#"{"amount":1250,"currency":"EUR","destination":"acct_1","items":[{"quantity":2,"sku":"A1"}]}"#;
/// How the answer to a placed one begins.
pub(crate) const CREATED: &str = "HTTP/1.1 201";

/// What is sent: `head` up to the key, the key, and the rest.
pub(crate) struct Requests {
    head: Vec<u8>,
    tail: Vec<u8>,
    next: AtomicU64,
    keys: Range<u64>,
    expected: &'static str,
}

/// What came of it.
pub(crate) struct Load {
    /// Requests a second.
    pub(crate) rate: f64,
    /// How many were answered.
    pub(crate) answered: usize,
    latencies: Vec<Duration>,
}

impl Requests {
    /// POSTs of `body` to `path`, with the numbers of `keys` in turn as their keys, each of which
    /// is answered by a head that begins with `expected`.
    pub(crate) fn new(path: &str, body: &str, keys: Range<u64>, expected: &'static str) -> Self {
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\n\
             content-length: {}\r\nidempotency-key: ",
            body.len()
        );
        Self {
            head: head.into_bytes(),
            tail: format!("\r\n\r\n{body}").into_bytes(),
            next: AtomicU64::new(keys.start),
            keys,
            expected,
        }
    }

    fn write_next(&self, request: &mut Vec<u8>) {
        let turn = self.next.fetch_add(1, Ordering::Relaxed) - self.keys.start;
        let key = self.keys.start + turn % (self.keys.end - self.keys.start);
        request.clear();
        request.extend_from_slice(&self.head);
        request.extend_from_slice(format!("{key:016x}").as_bytes());
        request.extend_from_slice(&self.tail);
    }

    /// Sends each key once.
    pub(crate) async fn send_all(self: &Arc<Self>, to: SocketAddr) -> Result<()> {
        let mut connection = Connection::open(to).await?;
        for _ in self.keys.clone() {
            connection.exchange(self).await?;
        }
        Ok(())
    }

    /// Sends for so long, by so many connections at once.
    pub(crate) async fn load(
        self: &Arc<Self>,
        to: SocketAddr,
        connections: usize,
        time: Duration,
    ) -> Result<Load> {
        let begun = Instant::now();
        let mut tasks = JoinSet::new();
        for _ in 0..connections {
            tasks.spawn(until(Arc::clone(self), to, begun + time));
        }
        let mut latencies = Vec::new();
        while let Some(of_one) = tasks.join_next().await {
            latencies.extend(of_one.map_err(Failure::because("a connection panicked"))??);
        }
        let took = begun.elapsed();
        latencies.sort_unstable();
        Ok(Load {
            rate: count(latencies.len()) / took.as_secs_f64(),
            answered: latencies.len(),
            latencies,
        })
    }
}

impl Load {
    /// The latency in milliseconds that this share of the requests did not exceed.
    pub(crate) fn percentile(&self, share: usize) -> f64 {
        let last = self.latencies.len().saturating_sub(1);
        let latency = self.latencies.get(last * share / 100);
        latency.map_or(f64::NAN, |latency| latency.as_secs_f64() * 1e3)
    }
}

/// A number of things, as a double.
pub(crate) fn count(things: usize) -> f64 {
    f64::from(u32::try_from(things).unwrap_or(u32::MAX))
}

async fn until(
    requests: Arc<Requests>,
    to: SocketAddr,
    deadline: Instant,
) -> Result<Vec<Duration>> {
    let mut connection = Connection::open(to).await?;
    let mut latencies = Vec::new();
    while Instant::now() < deadline {
        let sent = Instant::now();
        connection.exchange(&requests).await?;
        latencies.push(sent.elapsed());
    }
    Ok(latencies)
}

struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    async fn open(to: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(to)
            .await
            .map_err(Failure::because(format!("nothing listens at {to}")))?;
        stream
            .set_nodelay(true)
            .map_err(Failure::because("a socket without TCP_NODELAY"))?;
        Ok(Self {
            stream,
            buffer: Vec::with_capacity(4_096),
        })
    }

    async fn exchange(&mut self, requests: &Requests) -> Result<()> {
        let cut = Failure::because("the connection was cut");
        requests.write_next(&mut self.buffer);
        let sent = self.stream.write_all(&self.buffer).await;
        sent.map_err(Failure::because("the connection was cut"))?;
        self.buffer.clear();
        loop {
            let read = self.stream.read_buf(&mut self.buffer).await;
            if matches!(read, Ok(0)) || read.is_err() {
                return Err(cut(read.err().unwrap_or_else(|| {
                    std::io::Error::from(std::io::ErrorKind::UnexpectedEof)
                })));
            }
            if let Some(length) = answer_length(&self.buffer)
                && self.buffer.len() >= length
            {
                break;
            }
        }
        if self.buffer.starts_with(requests.expected.as_bytes()) {
            return Ok(());
        }
        let answer = String::from_utf8_lossy(&self.buffer).into_owned();
        Err(Failure::new(format!(
            "an answer that was not expected: {answer}"
        )))
    }
}

/// Head and body, in bytes, once the head is complete.
fn answer_length(answer: &[u8]) -> Option<usize> {
    let head = answer.windows(4).position(|end| end == b"\r\n\r\n")? + 4;
    let text = std::str::from_utf8(answer.get(..head)?).ok()?;
    let length = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim())
    });
    Some(head + length?.parse::<usize>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_ends_where_its_length_says() {
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
        assert_eq!(answer_length(answer), Some(answer.len()));
        assert_eq!(answer_length(&answer[..30]), None);
    }
}
