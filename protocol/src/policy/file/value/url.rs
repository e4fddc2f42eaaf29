//! URLs of upstreams and of browser clients. Only their form is judged here.

use super::text;
use crate::policy::file::fault::Wrong;
use toml::de::DeValue;

/// A base URL, without a slash at its end.
pub(in crate::policy::file) fn upstream(value: &DeValue<'_>) -> Result<String, Wrong> {
    const EXAMPLE: &str = r#""http://backend:8080""#;
    let url = text(value, EXAMPLE)?;
    if !is_http(url) || url.contains(['?', '#', '{', '}']) {
        return Err(Wrong::new("is no base URL", EXAMPLE));
    }
    Ok(url.trim_end_matches('/').to_owned())
}

/// A template in which `{key}` stands for the key that the upstream was sent.
pub(in crate::policy::file) fn status(value: &DeValue<'_>) -> Result<String, Wrong> {
    const EXAMPLE: &str = r#""http://backend:8080/operations/{key}""#;
    let url = text(value, EXAMPLE)?;
    let rest = url.replace("{key}", "");
    if rest == url {
        return Err(Wrong::new("has no {key} to ask for", EXAMPLE));
    }
    if !is_http(&rest) || rest.contains(['#', '{', '}']) {
        return Err(Wrong::new(
            "is no URL with {key} as its only variable",
            EXAMPLE,
        ));
    }
    Ok(url.to_owned())
}

/// An origin as browsers send it (RFC 6454 section 6.1), or `*`.
pub(in crate::policy::file) fn origin(value: &DeValue<'_>) -> Result<String, Wrong> {
    const EXAMPLE: &str = r#"["https://shop.example"] or ["*"]"#;
    let origin = text(value, EXAMPLE)?;
    let is_origin = is_http(origin)
        && origin.matches('/').count() == 2
        && !origin.contains(['?', '#'])
        && !origin.bytes().any(|byte| byte.is_ascii_uppercase());
    if origin != "*" && !is_origin {
        return Err(Wrong::new(
            format!("holds {origin:?}, which is no origin"),
            EXAMPLE,
        ));
    }
    Ok(origin.to_owned())
}

/// `http` or `https`, and a host without user information.
fn is_http(url: &str) -> bool {
    let rest = url
        .strip_prefix("http://")
        .or_else(|| url.strip_prefix("https://"));
    let authority = rest.and_then(|rest| rest.split(['/', '?', '#']).next());
    url.bytes().all(|byte| byte.is_ascii_graphic())
        && authority
            .is_some_and(|host| !host.is_empty() && !host.starts_with(':') && !host.contains('@'))
}
