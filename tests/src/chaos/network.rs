//! Faults of the links between the parts, by their fault proxies.

use super::{deck::Deck, history::History};
use crate::{
    fault_proxy::{self, FaultProxy},
    links::Links,
};
use fastrand::Rng;
use futures_util::future::join_all;
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

const LINKS: [Link; 3] = [Link::FromEdge, Link::ToStore, Link::ToProvider];
const HARMS: [Harm; 5] = [
    Harm::Cut,
    Harm::Delayed,
    Harm::Refused,
    Harm::AnswersDropped,
    Harm::Silent,
];

/// What comes with another fault, the likelier the more often it stands here.
const COMPANIONS: [Harm; 6] = [
    Harm::Delayed,
    Harm::Delayed,
    Harm::Delayed,
    Harm::Refused,
    Harm::AnswersDropped,
    Harm::Silent,
];

/// Every kind.
pub fn all() -> Vec<Fault> {
    let of = |link| HARMS.map(|harm| Fault(link, harm));
    LINKS.into_iter().flat_map(of).collect()
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

/// For each origin one spell of bad weather after the other until then; all links are whole when
/// this returns.
pub async fn run(
    (links, kinds): (&[Links], &[Fault]),
    rng: &mut Rng,
    history: &History,
    until: Instant,
) {
    let lanes = links
        .iter()
        .map(|links| lane((links, kinds), Deck::new(kinds, rng.fork()), history, until));
    join_all(lanes.collect::<Vec<_>>()).await;
}

async fn lane(
    (links, kinds): (&Links, &[Fault]),
    mut deck: Deck<Fault>,
    history: &History,
    until: Instant,
) {
    while Instant::now() < until {
        sleep(deck.time(200, 1_500)).await;
        let (faults, at) = (weather(&mut deck, kinds), history.now());
        for Fault(link, harm) in &faults {
            begin(proxy(links, *link), *harm, &mut deck).await;
        }
        sleep(deck.time(300, 2_500)).await;
        for Fault(link, harm) in faults {
            end(proxy(links, link), harm).await;
            history.strike(Fault(link, harm), at);
        }
    }
}

/// What goes wrong together: a fault from the deck, and what may come with it on the way to the
/// store or to the provider. A link that is slow harms only where another is broken.
fn weather(deck: &mut Deck<Fault>, kinds: &[Fault]) -> Vec<Fault> {
    let main = deck.draw();
    let others = [Link::ToStore, Link::ToProvider].map(|link| {
        let harm = *deck.rng.choice(&COMPANIONS).expect("some");
        let other = Fault(link, harm);
        (deck.rng.bool() && link != main.0 && kinds.contains(&other)).then_some(other)
    });
    std::iter::once(main)
        .chain(others.into_iter().flatten())
        .collect()
}

fn proxy(links: &Links, link: Link) -> &FaultProxy {
    match link {
        Link::FromEdge => &links.to_origin,
        Link::ToStore => &links.to_store,
        Link::ToProvider => &links.to_provider,
    }
}

async fn begin(proxy: &FaultProxy, harm: Harm, deck: &mut Deck<Fault>) {
    let delay = deck.time(50, 400);
    let fault = match harm {
        Harm::Cut => return proxy.cut().await,
        Harm::Delayed => fault_proxy::Fault::Delay(delay),
        Harm::Refused => fault_proxy::Fault::Refuse,
        Harm::AnswersDropped => fault_proxy::Fault::DropAfterRequest,
        Harm::Silent => fault_proxy::Fault::Blackhole,
    };
    proxy.set(fault).await;
}

async fn end(proxy: &FaultProxy, harm: Harm) {
    proxy.set(fault_proxy::Fault::None).await;
    if harm == Harm::Silent {
        // A connection that lost bytes stays dead; its ends learn it here.
        proxy.cut().await;
    }
}
