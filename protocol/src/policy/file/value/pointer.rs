//! Lists of JSON pointers (RFC 6901).

use crate::{canonical::Pointer, policy::file::fault::Wrong};
use toml::de::DeValue;

const EXAMPLE: &str = r#"["/merchantReference"]"#;

/// The whole list.
pub(in crate::policy::file) fn list(value: &DeValue<'_>) -> Result<Vec<Pointer>, Wrong> {
    super::list(value, EXAMPLE, |element| {
        let Some(text) = element.as_str() else {
            return Err(super::unexpected(element, EXAMPLE));
        };
        Pointer::parse(text).map_err(|error| Wrong::new(format!("is refused: {error}"), EXAMPLE))
    })
}

/// A list that names something.
pub(in crate::policy::file) fn some(value: &DeValue<'_>) -> Result<Vec<Pointer>, Wrong> {
    let pointers = list(value)?;
    if pointers.is_empty() {
        return Err(Wrong::new("is empty", EXAMPLE));
    }
    Ok(pointers)
}
