//! What a route matches, and what it runs.

use crate::policy::{
    OPERATIONS, PathPattern, Target,
    file::{
        fault::{Fault, Wrong},
        table::Table,
        value::{text, url},
    },
};
use toml::de::DeValue;

const MATCH: &str = r#""POST /orders""#;

/// `match`: where it stands, the method and the path.
pub(super) fn pattern(block: &mut Table<'_>) -> Result<(usize, String, PathPattern), Fault> {
    let Some(setting) = block.take("match", matched)? else {
        let instead = format!("match = {MATCH}");
        return Err(Wrong::new("this route has no match", instead).at(block.at()));
    };
    let (method, path) = setting.value;
    Ok((setting.at, method, path))
}

fn matched(value: &DeValue<'_>) -> Result<(String, PathPattern), Wrong> {
    let text = text(value, MATCH)?;
    let Some((method, path)) = text.split_once(' ') else {
        return Err(Wrong::new("is not a method and a path", MATCH));
    };
    if !matches!(method, "POST" | "PATCH") {
        let wrong = format!("protects {method}, which needs no key");
        return Err(Wrong::new(
            wrong,
            format!("\"POST {path}\" or \"PATCH {path}\""),
        ));
    }
    let path = PathPattern::new(path);
    let path = path.map_err(|error| Wrong::new(format!("is refused: {error}"), MATCH))?;
    Ok((method.to_owned(), path))
}

/// `operation` or `upstream`.
pub(super) fn read(block: &mut Table<'_>) -> Result<Target, Fault> {
    let operation = block.take("operation", operation)?;
    let upstream = block.take("upstream", url::upstream)?;
    match (operation, upstream) {
        (Some(operation), None) => Ok(Target::Operation(operation.value)),
        (None, Some(upstream)) => Ok(Target::Upstream(upstream.value)),
        (Some(_), Some(upstream)) => {
            let wrong = "this route has both an operation and an upstream";
            Err(Wrong::new(wrong, "only one of them").at(upstream.at))
        }
        (None, None) => {
            let wrong = "this route has neither operation nor upstream";
            let instead = r#"operation = "orders" or upstream = "http://backend:8080""#;
            Err(Wrong::new(wrong, instead).at(block.at()))
        }
    }
}

fn operation(value: &DeValue<'_>) -> Result<String, Wrong> {
    let instead = OPERATIONS.map(|name| format!("\"{name}\"")).join(" or ");
    let name = text(value, &instead)?;
    if !OPERATIONS.contains(&name) {
        return Err(Wrong::new(
            format!("is \"{name}\", which is not built in"),
            instead,
        ));
    }
    Ok(name.to_owned())
}
