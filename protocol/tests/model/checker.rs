//! A breadth-first checker: every state of a small world, each by a shortest way, and which states
//! can still come to an end.
//!
//! It is our own because the last question is one to the whole graph, circles included: a way to
//! the end must be there from every state. Checkers that keep digests of states (stateright) judge
//! along the paths that they happen to walk, and miss a trap behind a circle.

use std::{
    collections::{HashMap, hash_map::Entry},
    fmt::{Debug, Write},
    hash::Hash,
    sync::Arc,
};

/// All states that were reached, in the order of their distance from the start.
pub(crate) struct Graph<S, E> {
    states: Vec<Arc<S>>,
    reached_by: Vec<Option<(usize, E)>>,
    transitions: Vec<(usize, usize, E)>,
}

impl<S: Eq + Hash + Debug, E: Copy + Debug> Graph<S, E> {
    /// Explores until nothing is new, or until `stop` says so of a state, which is then the last.
    pub(crate) fn explore(
        start: S,
        successors: impl Fn(&S) -> Vec<(E, S)>,
        stop: impl Fn(&S) -> bool,
    ) -> Self {
        let start = Arc::new(start);
        let mut known = HashMap::from([(Arc::clone(&start), 0)]);
        let mut graph = Self {
            states: vec![start],
            reached_by: vec![None],
            transitions: Vec::new(),
        };
        let mut at = 0;
        while let Some(state) = graph.states.get(at).map(Arc::clone) {
            for (event, next) in successors(&state) {
                let next = Arc::new(next);
                let new = graph.states.len();
                let to = match known.entry(Arc::clone(&next)) {
                    Entry::Occupied(entry) => *entry.get(),
                    Entry::Vacant(entry) => *entry.insert(new),
                };
                graph.transitions.push((at, to, event));
                if to == new {
                    graph.reached_by.push(Some((at, event)));
                    let stopped = stop(&next);
                    graph.states.push(next);
                    if stopped {
                        return graph;
                    }
                }
            }
            at += 1;
        }
        graph
    }

    /// How many states there are.
    pub(crate) fn len(&self) -> usize {
        self.states.len()
    }

    /// How many transitions there are.
    pub(crate) fn transitions(&self) -> usize {
        self.transitions.len()
    }

    /// How many states `is` holds for.
    pub(crate) fn count(&self, is: impl Fn(&S) -> bool) -> usize {
        self.states.iter().filter(|state| is(state)).count()
    }

    /// The nearest state that `is` holds for.
    pub(crate) fn find(&self, is: impl Fn(&S) -> bool) -> Option<usize> {
        self.states.iter().position(|state| is(state))
    }

    /// The nearest state from which no way leads to a `goal`, over transitions that `may` allows.
    pub(crate) fn stranded(
        &self,
        goal: impl Fn(&S) -> bool,
        may: impl Fn(&E) -> bool,
    ) -> Option<usize> {
        let mut before = vec![Vec::new(); self.states.len()];
        for (from, to, _) in self.transitions.iter().filter(|(_, _, event)| may(event)) {
            before[*to].push(*from);
        }
        let mut ends: Vec<_> = self.states.iter().map(|state| goal(state)).collect();
        let mut open: Vec<_> = (0..ends.len()).filter(|at| ends[*at]).collect();
        while let Some(at) = open.pop() {
            for from in std::mem::take(&mut before[at]) {
                if !std::mem::replace(&mut ends[from], true) {
                    open.push(from);
                }
            }
        }
        ends.iter().position(|ends| !ends)
    }

    /// A shortest way to a state, and that state.
    pub(crate) fn way_to(&self, mut at: usize) -> String {
        let state = &self.states[at];
        let mut events = Vec::new();
        while let Some((from, event)) = &self.reached_by[at] {
            events.push(event);
            at = *from;
        }
        let mut way = String::new();
        for (n, event) in events.iter().rev().enumerate() {
            let _ = writeln!(way, "{:3}. {event:?}", n + 1);
        }
        let _ = write!(way, "{state:#?}");
        way
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts up to 9 and round again; from 5 on a trap is open.
    fn round(n: u8) -> Vec<(&'static str, u8)> {
        match n {
            99 => vec![],
            5.. => vec![("up", (n + 1) % 10), ("fall", 99)],
            _ => vec![("up", n + 1)],
        }
    }

    #[test]
    fn every_state_is_found_by_a_shortest_way() {
        let graph = Graph::explore(0, |n| round(*n), |_| false);
        assert_eq!((graph.len(), graph.transitions()), (11, 15));
        let trap = graph.find(|n| *n == 99).expect("a trap");
        let way = graph.way_to(trap);
        assert_eq!(way.lines().count(), 7, "five ups, a fall and the trap");
        let stopped = Graph::explore(0, |n| round(*n), |n| *n == 5);
        assert_eq!(stopped.len(), 6);
    }

    #[test]
    fn a_state_without_a_way_to_the_end_is_found_also_beyond_a_circle() {
        let graph = Graph::explore(0, |n| round(*n), |_| false);
        let trap = graph.stranded(|n| *n == 3, |_| true);
        assert_eq!(trap.map(|at| *graph.states[at]), Some(99));
        assert_eq!(graph.stranded(|n| *n == 3 || *n == 99, |_| true), None);
        let first = graph.stranded(|n| *n == 3 || *n == 99, |event| *event == "up");
        assert_eq!(first, None, "the circle closes by ups alone");
        assert!(
            graph
                .stranded(|n| *n == 99, |event| *event == "up")
                .is_some()
        );
    }
}
