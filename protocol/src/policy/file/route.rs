//! One `[[route]]`, with what it takes over from `[defaults]`.

mod key;
mod lifetime;
mod outcome;
mod principal;
mod selection;
mod target;

use super::{
    fault::{Fault, Wrong},
    table::Table,
    value::{choice, units},
};
use crate::policy::{OnLockFailure, Route, ScopeRule};

const BYTES_DEFAULT: usize = 1 << 20;

/// Settings that tell one route from another have no default.
pub(super) fn check_defaults(defaults: &Table<'_>) -> Result<(), Fault> {
    for name in ["match", "operation", "upstream"] {
        if let Some(at) = defaults.find(name) {
            let wrong = format!("{name} can't be a default");
            return Err(Wrong::new(wrong, "it in each [[route]]").at(at));
        }
    }
    Ok(())
}

/// The route, and where its `match` stands.
pub(super) fn read<'t>(
    mut block: Table<'t>,
    defaults: Option<&Table<'t>>,
) -> Result<(usize, Route), Fault> {
    if let Some(defaults) = defaults {
        block.inherit(defaults);
    }
    let (at, method, path) = target::pattern(&mut block)?;
    let target = target::read(&mut block)?;
    let (principal, ignore_credentials) = principal::read(&mut block)?;
    let (selection, fingerprint_headers) = selection::read(&mut block)?;
    let lifetime = lifetime::read(&mut block, &target)?;
    let outcomes = outcome::read(&mut block, &target)?;
    let route = Route {
        method,
        path,
        key: key::read(&mut block)?,
        principal,
        ignore_credentials,
        scope: block.or("scope", ScopeRule::default(), |value| {
            choice(value, &SCOPES)
        })?,
        selection,
        fingerprint_headers,
        lock_ttl: lifetime.lock_ttl,
        wait_max: lifetime.wait_max,
        retention: lifetime.retention,
        after_retention: lifetime.after_retention,
        tombstones_for: lifetime.tombstones_for,
        edge_replay: lifetime.edge_replay,
        body_max: block.or("body_max", BYTES_DEFAULT, units::size)?,
        response_max: block.or("response_max", BYTES_DEFAULT, units::size)?,
        archive: outcomes.archive,
        release: outcomes.release,
        on_unknown: outcomes.on_unknown,
        status_url: outcomes.status_url,
        upstream_key: outcomes.upstream_key,
        first_byte_timeout: outcomes.first_byte_timeout,
        on_lock_failure: block.or("on_lock_failure", OnLockFailure::default(), |value| {
            choice(value, &ON_LOCK_FAILURE)
        })?,
        target,
    };
    block.finish()?;
    Ok((at, route))
}

const SCOPES: [(&str, ScopeRule); 2] = [
    ("principal", ScopeRule::Principal),
    ("route", ScopeRule::Route),
];
const ON_LOCK_FAILURE: [(&str, OnLockFailure); 2] = [
    ("origin", OnLockFailure::Origin),
    ("refuse", OnLockFailure::Refuse),
];
