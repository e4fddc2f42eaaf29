//! What a person sees of a long step: its name before, its duration after.

use std::time::Instant;

use crate::failure::Result;

/// Announces `what`, does `work` and says how long it took, all on stderr.
pub fn step<T>(what: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    eprintln!("» {what}");
    let begun = Instant::now();
    let result = work()?;
    eprintln!("  done in {:.1} s", begun.elapsed().as_secs_f64());
    Ok(result)
}
