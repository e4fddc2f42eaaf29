//! The processes of this machine, read from /proc.

use std::fs;
use std::path::Path;

/// The ids of all processes whose working folder is `dir`, as far as we may look.
pub fn working_in(dir: &Path) -> Vec<u32> {
    all()
        .filter(|pid| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == dir))
        .collect()
}

/// The ids of all processes of a group that still run.
pub fn in_group(group: u32) -> Vec<u32> {
    all().filter(|pid| group_of(*pid) == Some(group)).collect()
}

/// The group of a process that runs; one that has ended and waits to be collected is in none.
pub fn group_of(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The program's name, in brackets, may hold anything.
    let mut fields = stat.rsplit(") ").next()?.split(' ');
    let state = fields.next()?;
    (state != "Z").then(|| fields.nth(1)?.parse().ok())?
}

fn all() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}
