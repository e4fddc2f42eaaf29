//! Faults of the links of one origin, by its fault proxies.

use super::{deck::Deck, history::History};
use crate::{
    fault_proxy::{self, FaultProxy},
    links::Links,
};
use std::{fmt, time::Instant};
use tokio::time::sleep;

/// Which link, and what happens to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault(pub Link, pub Harm);

/// A link of an origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// From its edge.
    FromEdge,
    /// To Postgres.
    ToStore,
    /// To the provider.
    ToProvider,
}

/// What happens to a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Harm {
    /// Open connections are cut.
    Cut,
    /// What is sent arrives later.
    Delayed,
    /// Nobody listens.
    Refused,
    /// Requests arrive, and the connection is cut in place of the answer.
    AnswersDropped,
    /// Bytes disappear.
    Silent,
}

/// Every kind.
pub fn all() -> Vec<Fault> {
    let links = [Link::FromEdge, Link::ToStore, Link::ToProvider];
    let harms = [
        Harm::Cut,
        Harm::Delayed,
        Harm::Refused,
        Harm::AnswersDropped,
        Harm::Silent,
    ];
    let of = |link| harms.map(|harm| Fault(link, harm));
    links.into_iter().flat_map(of).collect()
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let link = match self.0 {
            Link::FromEdge => "edge to origin",
            Link::ToStore => "origin to store",
            Link::ToProvider => "origin to provider",
        };
        let harm = match self.1 {
            Harm::Cut => "cut",
            Harm::Delayed => "delayed",
            Harm::Refused => "refused",
            Harm::AnswersDropped => "answers dropped",
            Harm::Silent => "silent",
        };
        write!(f, "{link}: {harm}")
    }
}

/// One fault after the other until then; all links are whole when this returns.
pub async fn run(links: &Links, deck: &mut Deck<Fault>, history: &History, until: Instant) {
    while Instant::now() < until {
        sleep(deck.time(100, 900)).await;
        let (fault, at) = (deck.draw(), history.now());
        let Fault(link, harm) = fault;
        let proxy = match link {
            Link::FromEdge => &links.to_origin,
            Link::ToStore => &links.to_store,
            Link::ToProvider => &links.to_provider,
        };
        strike(proxy, harm, deck).await;
        history.strike(fault, at);
    }
}

async fn strike(proxy: &FaultProxy, harm: Harm, deck: &mut Deck<Fault>) {
    let delay = deck.time(20, 400);
    let time = deck.time(200, 1_500);
    let fault = match harm {
        Harm::Cut => return proxy.cut().await,
        Harm::Delayed => fault_proxy::Fault::Delay(delay),
        Harm::Refused => fault_proxy::Fault::Refuse,
        Harm::AnswersDropped => fault_proxy::Fault::DropAfterRequest,
        Harm::Silent => fault_proxy::Fault::Blackhole,
    };
    proxy.set(fault).await;
    sleep(time).await;
    proxy.set(fault_proxy::Fault::None).await;
    if harm == Harm::Silent {
        // A connection that lost bytes stays dead; its ends learn it here.
        proxy.cut().await;
    }
}
