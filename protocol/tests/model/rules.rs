//! What must hold in every state.

use crate::{command::Command, database::Answer, world::State};
use protocol::record::{Pending, Record};

/// Whether a state keeps it.
pub(crate) type Rule = fn(&State) -> bool;

/// An execution that policy allows after retention is another generation, with an effect of its
/// own.
pub(crate) fn one_effect(state: &State) -> bool {
    let effects: Vec<_> = state
        .provider
        .effects()
        .map(|charge| charge.generation)
        .collect();
    all_differ(&effects)
}

fn all_differ<T: PartialEq>(all: &[T]) -> bool {
    all.iter()
        .enumerate()
        .all(|(n, one)| !all[..n].contains(one))
}

/// What is archived is what clients were told, whoever asked, and whenever.
pub(crate) fn equal_answers(state: &State) -> bool {
    let told = state.said.answers.iter().map(|(_, answer)| answer);
    let answers: Vec<&Answer> = state.database.archived.iter().chain(told).collect();
    let agree = |a: &Answer, b: &Answer| a.generation != b.generation || a == b;
    answers.iter().all(|a| answers.iter().all(|b| agree(a, b)))
}

/// Whatever had an effect in a generation is one command, and the record's.
pub(crate) fn no_mismatch_executes(state: &State) -> bool {
    let charges = state
        .provider
        .effects()
        .map(|charge| (charge.generation, charge.command));
    let orders = state
        .database
        .orders
        .iter()
        .map(|order| (order.generation, order.command));
    let record = match &state.database.record {
        Some(Record::Pending(Pending {
            hold, fingerprint, ..
        })) => Some((hold, fingerprint)),
        Some(Record::Finished(finished)) => Some((&finished.hold, &finished.fingerprint)),
        Some(Record::Released(_)) | None => None,
    };
    let record = record.map(|(hold, first)| (hold.generation, Command::of(first)));
    let done: Vec<_> = charges.chain(orders).chain(record).collect();
    done.iter()
        .all(|a| done.iter().all(|b| a.0 != b.0 || a.1 == b.1))
}

pub(crate) fn orders_and_charges(state: &State) -> bool {
    let (database, provider) = (&state.database, &state.provider);
    let given_back = |key| database.refunds.contains(key) || provider.refunded.contains(key);
    let paid = database.orders.iter().all(|order| {
        let mut charges = provider.effects();
        charges.any(|c| c.key == order.charge && c.generation == order.generation)
            && !given_back(&order.charge)
    });
    let pending = |generation: i32| match &database.record {
        Some(Record::Pending(pending)) => pending.hold.generation == generation,
        _ => false,
    };
    let served = provider.effects().all(|charge| {
        let has_order = database
            .orders
            .iter()
            .any(|order| order.charge == charge.key);
        has_order || given_back(&charge.key) || pending(charge.generation)
    });
    paid && served
}

/// Nor can it still get one.
pub(crate) fn released_without_effect(state: &State) -> bool {
    let Some(Record::Released(hold)) = &state.database.record else {
        return true;
    };
    let under_way = &state.provider.under_way;
    let mut charges = state.provider.effects().chain(under_way);
    charges.all(|charge| charge.generation != hold.generation)
}

/// With every lock deleted it would be told the same.
pub(crate) fn true_mismatches(state: &State) -> bool {
    let mut told = state.said.mismatches.iter();
    told.all(|(asked, record)| record.is_some_and(|record| record != *asked))
}

pub(crate) fn own_answers(state: &State) -> bool {
    state
        .said
        .answers
        .iter()
        .all(|(asked, answer)| *asked == answer.command)
}
