//! A TCP proxy that stands between two parts and fails on demand.

use crate::port;
use std::{
    future::pending,
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::{mpsc, oneshot, watch},
    task::{JoinHandle, JoinSet},
    time::sleep,
};

/// How the network behaves, for connections that are open as well as for new ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It forwards.
    None,
    /// What is sent to the server arrives so much later.
    Delay(Duration),
    /// Nobody listens, and open connections are cut.
    Refuse,
    /// Bytes disappear and nothing is answered. A connection that lost bytes so stays dead.
    Blackhole,
    /// Requests arrive; the connection is cut in place of the answer.
    DropAfterRequest,
}

enum Command {
    Set(Fault),
    Cut,
}

/// The proxy. It and all its connections end when it is dropped.
#[derive(Debug)]
pub struct FaultProxy {
    address: SocketAddr,
    commands: mpsc::Sender<(Command, oneshot::Sender<()>)>,
    task: JoinHandle<()>,
}

impl FaultProxy {
    /// A proxy to `target` without a fault.
    pub async fn start(target: SocketAddr) -> Self {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port::free()));
        let listener = TcpListener::bind(address)
            .await
            .expect("a port that was free");
        let (commands, received) = mpsc::channel(1);
        let task = tokio::spawn(run(listener, address, target, received));
        Self {
            address,
            commands,
            task,
        }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its base URL where HTTP goes through it.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Replaces the fault; it is in force when this returns.
    pub async fn set(&self, fault: Fault) {
        self.command(Command::Set(fault)).await;
    }

    /// Cuts all open connections; new ones are forwarded.
    pub async fn cut(&self) {
        self.command(Command::Cut).await;
    }

    async fn command(&self, command: Command) {
        let (done, applied) = oneshot::channel();
        self.commands
            .send((command, done))
            .await
            .expect("the proxy runs");
        applied.await.expect("the proxy runs");
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn run(
    listener: TcpListener,
    address: SocketAddr,
    target: SocketAddr,
    mut commands: mpsc::Receiver<(Command, oneshot::Sender<()>)>,
) {
    let fault = watch::Sender::new(Fault::None);
    let mut listener = Some(listener);
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            client = accept(listener.as_ref()) => {
                connections.spawn(forward(client, target, fault.subscribe()));
            }
            command = commands.recv() => {
                let Some((command, done)) = command else { return };
                match command {
                    Command::Set(new) => { fault.send_replace(new); }
                    Command::Cut => connections.shutdown().await,
                }
                if *fault.borrow() == Fault::Refuse {
                    listener = None;
                    connections.shutdown().await;
                } else if listener.is_none() {
                    listener = TcpListener::bind(address).await.ok();
                }
                let _ = done.send(());
            }
        }
    }
}

async fn accept(listener: Option<&TcpListener>) -> TcpStream {
    match listener {
        Some(listener) => match listener.accept().await {
            Ok((client, _)) => client,
            Err(_) => pending().await,
        },
        None => pending().await,
    }
}

/// Until one side closes.
async fn forward(client: TcpStream, target: SocketAddr, fault: watch::Receiver<Fault>) {
    let Ok(server) = TcpStream::connect(target).await else {
        return;
    };
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    tokio::select! {
        () = pump(from_client, to_server, || requests(fault.clone())) => {}
        () = pump(from_server, to_client, || answers(fault.clone())) => {}
    }
}

/// Copies until the end, or until `passes` says no.
async fn pump<F: Future<Output = bool>>(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    passes: impl Fn() -> F,
) {
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(read) = from.read(&mut buffer).await {
        let bytes = &buffer[..read];
        if read == 0 || !passes().await || to.write_all(bytes).await.is_err() {
            return;
        }
    }
}

async fn requests(fault: watch::Receiver<Fault>) -> bool {
    let fault = *fault.borrow();
    match fault {
        Fault::Delay(time) => sleep(time).await,
        Fault::Blackhole => pending().await,
        _ => {}
    }
    true
}

async fn answers(fault: watch::Receiver<Fault>) -> bool {
    let fault = *fault.borrow();
    match fault {
        Fault::DropAfterRequest => false,
        Fault::Blackhole => pending().await,
        _ => true,
    }
}
