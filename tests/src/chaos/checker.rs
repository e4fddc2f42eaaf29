//! The promises, held against all that happened.

use super::{
    command::{Command, RARE_PIECES},
    evidence::{Evidence, Order},
    history::{Asked, Outcome},
};
use crate::{answer::Answer, sandbox::Charge};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// A promise that was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Which promise.
    pub promise: &'static str,
    /// Whose, and what is there in its place.
    pub detail: String,
}

/// All that belongs to one key.
#[derive(Debug, Default)]
struct Case<'a> {
    asked: Vec<&'a Asked>,
    charges: Vec<(Command, &'a Charge)>,
    orders: Vec<(Command, &'a Order)>,
    archived: &'a [Vec<u8>],
}

/// Which promises were broken, if any.
pub fn check(asked: &[Asked], evidence: &Evidence) -> Vec<Violation> {
    let mut broken = Vec::new();
    let cases = cases(asked, evidence, &mut broken);
    for (key, case) in &cases {
        let mut say = |promise, detail: String| {
            let detail = format!("key {key}: {detail}");
            broken.push(Violation { promise, detail });
        };
        case.effects(&mut say);
        case.successes(&mut say);
        case.answers(&mut say);
        case.commands(&mut say);
        case.truth(&mut say);
    }
    charges_and_orders(evidence, &mut broken);
    events(evidence, &mut broken);
    nothing_is_pending(evidence, &mut broken);
    broken
}

fn cases<'a>(
    asked: &'a [Asked],
    evidence: &'a Evidence,
    broken: &mut Vec<Violation>,
) -> BTreeMap<usize, Case<'a>> {
    let mut cases = BTreeMap::<usize, Case<'a>>::new();
    for asked in asked {
        let case = cases.entry(asked.command.key).or_default();
        case.asked.push(asked);
    }
    for (key, case) in &mut cases {
        case.archived = evidence.archived.get(key).map_or(&[], Vec::as_slice);
    }
    let nobody = "every effect was asked for";
    for charge in &evidence.charges {
        let command = Command::of_amount(charge.amount);
        match command.and_then(|command| Some((command, cases.get_mut(&command.key)?))) {
            Some((command, case)) => case.charges.push((command, charge)),
            None => say(broken, nobody, format!("{charge:?}")),
        }
    }
    for order in &evidence.orders {
        match order
            .command()
            .and_then(|command| Some((command, cases.get_mut(&command.key)?)))
        {
            Some((command, case)) => case.orders.push((command, order)),
            None => say(broken, nobody, format!("{order:?}")),
        }
    }
    cases
}

fn say(broken: &mut Vec<Violation>, promise: &'static str, detail: String) {
    broken.push(Violation { promise, detail });
}

impl Case<'_> {
    fn effects(&self, say: &mut impl FnMut(&'static str, String)) {
        let counts = (self.charges.len(), self.orders.len());
        if counts.0 > 1 || counts.1 > 1 {
            let detail = format!("{} charges, {} orders", counts.0, counts.1);
            say("at most one effect per key", detail);
        }
    }

    fn successes(&self, say: &mut impl FnMut(&'static str, String)) {
        let answers = self.asked.iter().filter_map(|asked| {
            let answer = asked.answer()?;
            (200..300)
                .contains(&answer.status)
                .then_some((asked.command, answer))
        });
        let paid = self.charges.iter().filter(|(_, c)| c.status == "succeeded");
        let paid: Vec<_> = paid.map(|(command, _)| *command).collect();
        let placed: Vec<_> = self.orders.iter().map(|(command, _)| *command).collect();
        for (command, answer) in answers {
            if paid != [command] || placed != [command] {
                let detail = format!("paid {paid:?}, placed {placed:?}");
                say("exactly one effect for each key that got a 2xx", detail);
            }
            if answer.json()["amount"] != command.amount() {
                let detail = format!("{} was asked, {answer:?}", command.amount());
                say("a client is told of its own command", detail);
            }
        }
    }

    fn answers(&self, say: &mut impl FnMut(&'static str, String)) {
        let answers = self.asked.iter().filter_map(|asked| asked.archived());
        let answers: Vec<&Answer> = answers.collect();
        let Some(first) = answers.first() else { return };
        if let Some(other) = answers.iter().find(|a| a.lasting() != first.lasting()) {
            let detail = format!("{first:?}\nand\n{other:?}");
            say("all archived answers to a key are identical", detail);
        }
        if self.archived != [first.body.clone()] {
            let archived: Vec<_> = self
                .archived
                .iter()
                .map(|b| String::from_utf8_lossy(b))
                .collect();
            let detail = format!("{first:?}\nbut there is {archived:?}");
            say("what was answered is what is archived", detail);
        }
        let fresh = answers.iter().filter(|a| a.replayed() == Some(false));
        if fresh.count() > 1 {
            let detail = "two answers say that they are none".to_owned();
            say("all answers but one are replays", detail);
        }
    }

    /// Effects and archived answers are all of one command.
    fn commands(&self, say: &mut impl FnMut(&'static str, String)) {
        let archived = self.asked.iter().filter(|asked| asked.archived().is_some());
        let mut done: BTreeSet<_> = archived.map(|asked| asked.command).collect();
        done.extend(self.charges.iter().map(|(command, _)| *command));
        done.extend(self.orders.iter().map(|(command, _)| *command));
        if done.len() > 1 {
            say(
                "a mismatch never executes",
                format!("both are done: {done:?}"),
            );
        }
    }

    /// When all is well again, one command has its answer and the other is refused; before, an
    /// answer is at least one that DESIGN knows.
    fn truth(&self, say: &mut impl FnMut(&'static str, String)) {
        for asked in &self.asked {
            let is_right = match (&asked.outcome, asked.is_final) {
                (Outcome::Answered(answer), true) => {
                    answer.replayed().is_some() || answer.status == 422
                }
                (Outcome::Answered(answer), false) => is_known(answer),
                (Outcome::Unanswered(_) | Outcome::Left, is_final) => !is_final,
            };
            if !is_right {
                let detail = format!("at {:?}: {:?}", asked.at, asked.outcome);
                say("every answer is one that the situation allows", detail);
            }
        }
        let last = self.asked.iter().filter(|asked| asked.is_final);
        let refused = last.filter(|asked| asked.archived().is_none()).count();
        let is_asked_last = self.asked.iter().any(|asked| asked.is_final);
        if is_asked_last && refused != 1 {
            let detail = format!("{refused} of two commands are refused in the end");
            say("a mismatch never executes", detail);
        }
    }
}

fn is_known(answer: &Answer) -> bool {
    let problem = answer.problem();
    match answer.status {
        201 => answer.replayed().is_some(),
        402 => problem == "card-declined",
        409 => problem == "out-of-stock" || problem == "request-in-progress",
        422 => problem == "key-reused",
        502 => problem == "outcome-unknown",
        503 => problem == "origin-unavailable" || problem == "store-unavailable",
        _ => false,
    }
}

/// Each order has its charge, and each charge its order or its refund.
fn charges_and_orders(evidence: &Evidence, broken: &mut Vec<Violation>) {
    let promise = "a charge has its order or is given back";
    let placed: HashSet<_> = evidence.orders.iter().map(|o| &o.charge_id).collect();
    let given_back = evidence.refunds.iter().filter(|refund| refund.is_refunded);
    let given_back: HashSet<_> = given_back.map(|refund| &refund.charge_id).collect();
    for charge in &evidence.charges {
        let is_right = match charge.status.as_str() {
            "refunded" => given_back.contains(&charge.id) && !placed.contains(&charge.id),
            _ => placed.contains(&charge.id) && !given_back.contains(&charge.id),
        };
        if !is_right {
            say(broken, promise, format!("{charge:?}"));
        }
    }
    let charged: HashSet<_> = evidence.charges.iter().map(|charge| &charge.id).collect();
    for order in &evidence.orders {
        if !charged.contains(&order.charge_id) {
            say(broken, promise, format!("{order:?}"));
        }
    }
    let commands = evidence.orders.iter().filter_map(Order::command);
    let rare = commands.filter(|command| command.wants_rare());
    let (taken, left) = (rare.count(), evidence.rare_left);
    if i64::try_from(RARE_PIECES - taken.min(RARE_PIECES)) != Ok(left) || taken > RARE_PIECES {
        let detail = format!("{taken} of {RARE_PIECES} are sold, {left} are left");
        say(broken, "no piece is sold twice, and none is lost", detail);
    }
}

const EVENTS: [&str; 2] = ["payment.succeeded", "order.created"];

/// Each order has both events, written and received in their order, and no event is without one.
fn events(evidence: &Evidence, broken: &mut Vec<Violation>) {
    let promise = "each order has its events, and each event its order";
    let orders: HashSet<_> = evidence.orders.iter().map(|order| &order.id).collect();
    let mut written = BTreeMap::<_, Vec<_>>::new();
    for event in &evidence.outbox {
        written
            .entry(&event.subject)
            .or_default()
            .push(event.r#type.as_str());
        if !orders.contains(&event.subject) {
            say(broken, promise, format!("{event:?} has no order"));
        }
    }
    let mut received = BTreeMap::<_, Vec<_>>::new();
    let mut known = HashSet::new();
    for event in &evidence.received {
        if known.insert(&event.id) {
            received
                .entry(&event.subject)
                .or_default()
                .push(event.r#type.as_str());
        }
        if !orders.contains(&event.subject) {
            say(broken, promise, format!("{event:?} has no order"));
        }
    }
    for order in orders {
        for (what, events) in [
            ("written", written.get(order)),
            ("received", received.get(order)),
        ] {
            if events.is_none_or(|events| *events != EVENTS) {
                say(broken, promise, format!("{order}: {what} {events:?}"));
            }
        }
    }
}

fn nothing_is_pending(evidence: &Evidence, broken: &mut Vec<Violation>) {
    let promise = "nothing is pending for ever";
    for record in &evidence.records {
        if record.state == "pending" || record.needs_operator {
            say(broken, promise, format!("{record:?}"));
        }
    }
    for event in evidence.outbox.iter().filter(|event| !event.is_published) {
        say(broken, promise, format!("{event:?}"));
    }
    for refund in evidence.refunds.iter().filter(|refund| !refund.is_refunded) {
        say(broken, promise, format!("{refund:?}"));
    }
}

#[cfg(test)]
mod tests;
