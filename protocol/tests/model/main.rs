//! The law, checked: every state of some small worlds of clients, edges, origins, Postgres and a
//! provider is visited, and the decisions and transitions in it are protocol's own.
//!
//! Between any two steps anything may happen: a client leaves or asks again, an edge forgets, a
//! process is killed or pauses past its lease, an answer of Postgres or of the provider is lost, a
//! charge is still on its way when its sender has long gone.

mod checker;
mod client;
mod command;
mod database;
mod engine;
mod labels;
mod provider;
mod rules;
mod shard;
mod task;
mod world;

use checker::Graph;
use client::Request;
use command::Command;
use database::Ending;
use protocol::record::{AfterRetention, Record};
use rules::Rule;
use std::sync::LazyLock;
use world::{Defect, Event, State, World};

/// A world and all its states, explored once for all tests.
type Explored = LazyLock<(World, Graph<State, Event>)>;

/// No edge at all, or, which is the same, all locks lost: two equal requests and a mismatching one
/// on two origins, with a completer. Everything fails.
static ORIGINS: Explored = LazyLock::new(|| all(World::of(&[Command::A, Command::A, Command::B])));

/// Retention ends, and policy lets a retry execute again.
static RETENTION: Explored = LazyLock::new(|| all(executing_again()));

/// Two edges on two origins, none of which knows another.
static EDGES: Explored = LazyLock::new(|| {
    all(World {
        edges: 2,
        ..calm(&[Command::A, Command::A])
    })
});

/// One edge, which a mismatching command meets as well.
static EDGE: Explored = LazyLock::new(|| {
    all(World {
        edges: 1,
        ..calm(&[Command::A, Command::B])
    })
});

static WORLDS: [(&str, &Explored, usize); 4] = [
    ("origins", &ORIGINS, 100_000),
    ("retention", &RETENTION, 35_000),
    ("edges", &EDGES, 100_000),
    ("edge", &EDGE, 10_000),
];

/// Edges are asked for here: what fails are they and processes.
fn calm(requests: &[Command]) -> World {
    World {
        calm: true,
        completers: 0,
        ..World::of(requests)
    }
}

fn executing_again() -> World {
    World {
        calm: true,
        retention_ends: true,
        after_retention: AfterRetention::Execute,
        ..World::of(&[Command::A, Command::B])
    }
}

fn all(world: World) -> (World, Graph<State, Event>) {
    let graph = explore(&world, |_| false);
    (world, graph)
}

fn explore(world: &World, stop: impl Fn(&State) -> bool) -> Graph<State, Event> {
    Graph::explore(world.start(), |state| world.successors(state), stop)
}

/// Fails with a shortest way to a state of any world that breaks the rule.
fn holds_everywhere(rule: Rule) {
    for (name, explored, _) in &WORLDS {
        let graph = &explored.1;
        if let Some(at) = graph.find(|state| !rule(state)) {
            panic!("in the world of {name}:\n{}", graph.way_to(at));
        }
    }
}

#[test]
fn effects_per_key_never_exceed_one() {
    holds_everywhere(rules::one_effect);
}

#[test]
fn all_answers_to_a_key_are_equal() {
    holds_everywhere(rules::equal_answers);
}

#[test]
fn a_mismatching_command_never_executes() {
    holds_everywhere(rules::no_mismatch_executes);
}

#[test]
fn an_order_has_its_own_charge_and_a_charge_its_order_or_its_refund() {
    holds_everywhere(rules::orders_and_charges);
}

#[test]
fn a_released_operation_never_had_an_effect() {
    holds_everywhere(rules::released_without_effect);
}

#[test]
fn a_mismatch_is_only_told_against_the_record() {
    holds_everywhere(rules::true_mismatches);
}

#[test]
fn a_client_is_only_told_of_its_own_command() {
    holds_everywhere(rules::own_answers);
}

/// Where there is a completer, without anybody asking; and without luck in either case: no way
/// needs a crash or a shard that forgets.
#[test]
fn every_claimed_operation_can_reach_an_end() {
    let ended = |state: &State| !matches!(state.database.record, Some(Record::Pending(_)));
    for (name, explored, _) in &WORLDS {
        let (world, graph) = &***explored;
        let may = |event: &Event| match event {
            Event::Ask { .. } => world.completers == 0,
            Event::Crash { .. } | Event::EdgeForgets { .. } => false,
            _ => true,
        };
        if let Some(at) = graph.stranded(ended, may) {
            panic!("in the world of {name}:\n{}", graph.way_to(at));
        }
    }
}

/// An emptied world would keep every rule.
#[test]
fn the_worlds_hold_what_they_are_about() {
    for (name, explored, states) in &WORLDS {
        let found = explored.1.len();
        assert!(found >= *states, "{name} has only {found} states");
        assert!(explored.1.transitions() > 5 * found, "{name} hardly moves");
    }
    let ended = |ending| move |state: &State| state.database.has_archived(ending);
    for ending in [Ending::Placed, Ending::Declined, Ending::SoldOut] {
        assert!(ORIGINS.1.count(ended(ending)) > 100, "{ending:?}");
    }
    let refused = |state: &State| !state.said.mismatches.is_empty();
    let released = |state: &State| matches!(state.database.record, Some(Record::Released(_)));
    let refunded = |state: &State| !state.provider.refunded.is_empty();
    for (what, is) in [
        ("a mismatch", &refused as &dyn Fn(&State) -> bool),
        ("a release", &released),
        ("a refund", &refunded),
    ] {
        assert!(ORIGINS.1.count(is) > 100, "{what}");
    }
    let twice = |state: &State| state.provider.effects().count() == 2;
    assert!(RETENTION.1.count(twice) > 100, "a second generation");
    for edges in [&EDGES, &EDGE] {
        let lands = |request: &Request| matches!(request, Request::Landing { .. });
        let landing = |state: &State| state.requests.iter().any(lands);
        assert!(edges.1.count(landing) > 100, "a landing");
    }
}

/// Fails unless a world that lacks a check comes to break this rule.
fn is_broken_by(defect: Defect, rule: Rule) {
    let world = World {
        defect: Some(defect),
        ..World::of(&[Command::A, Command::A, Command::B])
    };
    let graph = explore(&world, |state| !rule(state));
    assert!(
        graph.find(|state| !rule(state)).is_some(),
        "no counterexample"
    );
}

#[test]
fn without_the_check_of_fence_and_owner_a_mismatch_executes() {
    is_broken_by(Defect::HoldUnchecked, rules::no_mismatch_executes);
}

#[test]
fn without_the_check_of_the_state_an_order_and_its_charge_part() {
    is_broken_by(Defect::StateUnchecked, rules::orders_and_charges);
}

#[test]
fn without_the_child_key_a_takeover_charges_again() {
    is_broken_by(Defect::ChildKeyAbsent, rules::one_effect);
}

#[test]
fn a_release_of_what_may_have_acted_leaves_an_effect_behind() {
    is_broken_by(Defect::TouchedReleased, rules::released_without_effect);
}
