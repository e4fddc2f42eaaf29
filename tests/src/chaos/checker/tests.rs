//! Each promise, broken once.

use super::*;
use crate::chaos::{
    evidence::{Record, Refund, Written},
    inbox::Event,
};
use std::{collections::HashMap, time::Duration};

const KEY: usize = 3;

fn command(is_other: bool) -> Command {
    Command { key: KEY, is_other }
}

fn answer(status: u16, replayed: Option<bool>, body: &str) -> Answer {
    let replayed =
        replayed.map(|replayed| ("idempotent-replayed".to_owned(), replayed.to_string()));
    let kind = (
        "content-type".to_owned(),
        "application/problem+json".to_owned(),
    );
    let lines = std::iter::once(kind).chain(replayed);
    Answer {
        status,
        headers: lines
            .map(|(name, value)| (name, value.into_bytes()))
            .collect(),
        body: body.as_bytes().to_vec(),
    }
}

fn asked(is_other: bool, is_final: bool, answer: Answer) -> Asked {
    Asked {
        at: Duration::ZERO,
        until: Duration::ZERO,
        edge: 0,
        command: command(is_other),
        is_final,
        outcome: Outcome::Answered(answer),
    }
}

fn placed() -> String {
    format!(r#"{{"amount":{}}}"#, command(false).amount())
}

/// An order that was placed, replayed, and refused to another command.
fn good() -> (Vec<Asked>, Evidence) {
    let history = vec![
        asked(false, false, answer(201, Some(false), &placed())),
        asked(false, true, answer(201, Some(true), &placed())),
        asked(
            true,
            true,
            answer(422, None, r#"{"type":"/problems/key-reused"}"#),
        ),
    ];
    let charge = Charge {
        id: "pi_1".into(),
        idempotency_key: None,
        amount: command(false).amount(),
        currency: "eur".into(),
        status: "succeeded".into(),
        requests: 1,
    };
    let order = Order {
        id: "ord_1".into(),
        amount: command(false).amount().cast_signed(),
        charge_id: "pi_1".into(),
    };
    let event = |id: &str, r#type: &str| Written {
        event_id: id.into(),
        r#type: r#type.into(),
        subject: "ord_1".into(),
        is_published: true,
    };
    let outbox = vec![event("1", EVENTS[0]), event("2", EVENTS[1])];
    let received = outbox.iter().map(|event| Event {
        id: event.event_id.clone(),
        r#type: event.r#type.clone(),
        subject: event.subject.clone(),
    });
    let evidence = Evidence {
        charges: vec![charge],
        orders: vec![order],
        archived: HashMap::from([(KEY, vec![placed().into_bytes()])]),
        received: received.collect(),
        outbox,
        rare_left: 10,
        ..Evidence::default()
    };
    (history, evidence)
}

/// What is found once the good case is changed so.
fn found(change: impl FnOnce(&mut Vec<Asked>, &mut Evidence)) -> Vec<&'static str> {
    let (mut history, mut evidence) = good();
    change(&mut history, &mut evidence);
    let broken = check(&history, &evidence);
    broken.iter().map(|violation| violation.promise).collect()
}

#[track_caller]
fn is_found(promise: &str, change: impl FnOnce(&mut Vec<Asked>, &mut Evidence)) {
    let found = found(change);
    assert!(found.contains(&promise), "{found:?}");
}

#[test]
fn kept_promises_are_not_accused() {
    assert!(found(|_, _| ()).is_empty());
}

#[test]
fn a_second_effect_is_found() {
    let promise = "at most one effect per key";
    is_found(promise, |_, evidence| {
        evidence.charges.push(evidence.charges[0].clone());
    });
    is_found(promise, |_, evidence| {
        evidence.orders.push(evidence.orders[0].clone());
    });
}

#[test]
fn a_success_without_its_effect_is_found() {
    let promise = "exactly one effect for each key that got a 2xx";
    is_found(promise, |_, evidence| evidence.charges.clear());
    is_found(promise, |_, evidence| evidence.orders.clear());
}

#[test]
fn answers_that_differ_are_found() {
    let other = || answer(201, Some(true), r#"{"amount":1}"#);
    is_found(
        "all archived answers to a key are identical",
        |history, _| {
            history.push(asked(false, false, other()));
        },
    );
    is_found("a client is told of its own command", |history, _| {
        history.push(asked(false, false, other()));
    });
    is_found("what was answered is what is archived", |_, evidence| {
        evidence.archived.clear();
    });
    is_found("all answers but one are replays", |history, _| {
        history.push(history[0].clone());
    });
}

#[test]
fn a_mismatch_that_executed_is_found() {
    let promise = "a mismatch never executes";
    is_found(promise, |_, evidence| {
        evidence.orders[0].amount = command(true).amount().cast_signed();
    });
    is_found(promise, |history, _| {
        history[2] = asked(true, true, answer(201, Some(true), &placed()));
    });
}

#[test]
fn an_answer_that_nobody_may_get_is_found() {
    let promise = "every answer is one that the situation allows";
    is_found(promise, |history, _| {
        history.push(asked(false, false, answer(500, None, "")));
    });
    is_found(promise, |history, _| {
        history[1].outcome = Outcome::Unanswered("cut".into());
    });
}

#[test]
fn money_and_pieces_that_are_lost_are_found() {
    let promise = "a charge has its order or is given back";
    is_found(promise, |_, evidence| {
        evidence.orders[0].charge_id = "pi_2".into();
    });
    is_found(promise, |_, evidence| {
        evidence.charges[0].status = "refunded".into();
    });
    is_found("no piece is sold twice, and none is lost", |_, evidence| {
        evidence.rare_left = 9;
    });
    is_found("every effect was asked for", |_, evidence| {
        evidence.charges[0].amount = 1;
    });
}

#[test]
fn events_that_are_missing_or_nobodys_or_out_of_order_are_found() {
    let promise = "each order has its events, and each event its order";
    is_found(promise, |_, evidence| drop(evidence.outbox.pop()));
    is_found(promise, |_, evidence| drop(evidence.received.pop()));
    is_found(promise, |_, evidence| evidence.received.reverse());
    is_found(promise, |_, evidence| {
        evidence.received[0].subject = "ord_2".into();
    });
    let repeated = found(|_, evidence| evidence.received.push(evidence.received[0].clone()));
    assert!(repeated.is_empty(), "at least once: {repeated:?}");
}

#[test]
fn what_never_ends_is_found() {
    let promise = "nothing is pending for ever";
    is_found(promise, |_, evidence| {
        evidence.outbox[0].is_published = false;
    });
    is_found(promise, |_, evidence| {
        evidence.refunds.push(Refund {
            charge_id: "pi_1".into(),
            is_refunded: false,
        });
    });
    is_found(promise, |_, evidence| {
        evidence.records.push(Record {
            scope: vec![1; 32],
            state: "pending".into(),
            needs_operator: false,
        });
    });
}
