//! Reading `policy.toml`: what stands in it, checked, with the line of what is wrong.
//!
//! A setting of `[defaults]` holds for each route that does not say otherwise, as far as it fits
//! the route; one that stands on the route itself and does not fit it is refused.

mod fault;
mod route;
mod table;
mod value;

pub use fault::PolicyError;
pub use value::units::{BYTES_MAX, LOCK_TTL_MAX, RETENTION_MAX};

use super::{Policy, Route};
use fault::{Fault, Wrong};
use table::Table;

/// Reads the text of the file of this name.
///
/// The error is one line: file, line, what is wrong and what to write instead.
pub fn parse(text: &str, file: &str) -> Result<Policy, PolicyError> {
    read(text).map_err(|fault| fault.in_file(text, file))
}

fn read(text: &str) -> Result<Policy, Fault> {
    let mut root = Table::parse(text)?;
    let defaults = root.table("defaults")?;
    let blocks = root.tables("route")?;
    let cors = root.table("cors")?;
    root.finish()?;
    if let Some(defaults) = &defaults {
        route::check_defaults(defaults)?;
    }
    let cors_allow_origins = cors.map(origins).transpose()?.unwrap_or_default();
    Ok(Policy {
        routes: routes(blocks, defaults.as_ref())?,
        cors_allow_origins,
    })
}

/// `[cors]`.
fn origins(mut cors: Table<'_>) -> Result<Vec<String>, Fault> {
    let origins = cors.take("allow_origins", |value| {
        value::list(value, r#"["*"]"#, value::url::origin)
    })?;
    cors.finish()?;
    Ok(origins.map(|origins| origins.value).unwrap_or_default())
}

fn routes<'t>(blocks: Vec<Table<'t>>, defaults: Option<&Table<'t>>) -> Result<Vec<Route>, Fault> {
    if blocks.is_empty() {
        let instead = r#"a [[route]] with match = "POST /orders" and operation = "orders""#;
        return Err(Wrong::new("no route is protected", instead).at(0));
    }
    let mut routes: Vec<Route> = Vec::new();
    for block in blocks {
        let (at, route) = route::read(block, defaults)?;
        if let Some(other) = routes.iter().find(|other| overlap(other, &route)) {
            let wrong = format!("{} overlaps {}", route.name(), other.name());
            let instead = "paths of which no request can match both";
            return Err(Wrong::new(wrong, instead).at(at));
        }
        routes.push(route);
    }
    Ok(routes)
}

fn overlap(a: &Route, b: &Route) -> bool {
    a.method == b.method && a.path.overlaps(&b.path)
}
