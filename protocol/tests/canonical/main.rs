//! Canonical JSON against the world: vectors, corpora, Node, and a slow model of the same rules.

mod choices;
mod corpora;
mod hostile;
mod model;
mod node;
mod properties;
mod selection;
mod spelling;
mod strategy;
mod vectors;
