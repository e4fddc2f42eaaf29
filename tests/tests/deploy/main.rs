//! What a deployment rests on: the images' recipe, the compose file, and how an origin starts.
//!
//! No container engine is asked: the recipe is followed as far as its steps are cheap.

mod recipe;
mod start;
