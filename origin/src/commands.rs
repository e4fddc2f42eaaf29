//! Commands beside serving: on the policy, on bodies and on records.

pub(crate) mod health;
pub(crate) mod records;

use crate::Failure;
use protocol::{
    canonical::{self, Selection},
    fingerprint::{Command, Fingerprint},
    policy::{Policy, Route},
    wire::hex,
};
use std::{
    io::{Read, Write},
    path::Path,
};

/// Reads and validates a policy.
pub(crate) fn policy(file: &Path) -> Result<Policy, Failure> {
    let name = file.display().to_string();
    let text = std::fs::read_to_string(file)
        .map_err(|error| format!("the policy {name} can't be read: {error}"))?;
    Ok(protocol::policy::file::parse(&text, &name)?)
}

/// `origin policy check`.
pub(crate) fn check(file: &Path) -> Result<(), Failure> {
    let policy = policy(file)?;
    let routes = policy.routes.len();
    println!(
        "{} is valid: {routes} protected route{}",
        file.display(),
        if routes == 1 { "" } else { "s" }
    );
    Ok(())
}

/// `origin canonical`: the text alone on line 1, the fingerprint on line 2. Users debug a 422 with
/// it. Without a route its parts are empty.
pub(crate) fn canonical(file: &Path, route: Option<&str>) -> Result<(), Failure> {
    let route = route.map(|name| find(file, name)).transpose()?;
    let whole = Selection::whole();
    let selection = route.as_ref().map_or(&whole, |route| &route.selection);
    let mut body = Vec::new();
    std::io::stdin().read_to_end(&mut body)?;
    let refused = |error: canonical::CanonicalError| {
        format!(
            "the body has no canonical form: {error} (offset {})",
            error.offset
        )
    };
    let text = canonical::text(&body, selection).map_err(refused)?;
    let mut text = text.into_owned();
    let command = Command {
        method: route.as_ref().map_or("", |route| &route.method),
        path: route.as_ref().map_or("", |route| route.path.as_str()),
        query: "",
        content_type: Some("application/json"),
        headers: &[],
        body: &body,
    };
    let fingerprint = Fingerprint::new(&command, selection).map_err(refused)?;
    text.extend_from_slice(b"\nfingerprint ");
    text.extend_from_slice(hex::encode(&fingerprint.digest).as_bytes());
    text.push(b'\n');
    std::io::stdout().write_all(&text)?;
    Ok(())
}

fn find(file: &Path, name: &str) -> Result<Route, Failure> {
    let routes = policy(file)?.routes;
    let names: Vec<_> = routes.iter().map(Route::name).collect();
    let route = routes.into_iter().find(|route| route.name() == name);
    Ok(route.ok_or_else(|| {
        format!(
            "the policy has no route {name:?}; it has {}",
            names.join(", ")
        )
    })?)
}
