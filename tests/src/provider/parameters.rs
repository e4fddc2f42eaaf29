//! The parameters of a call in Stripe's form encoding: `amount=1250&metadata[scope]=…`.

use super::answer::{Answer, ApiError};

/// The largest amount that is accepted, in minor units: more than any order may cost.
const AMOUNT_MAX: u64 = 999_999_999_999;

/// Names and values, parsed and sorted by name, so that two calls are equal when they say the
/// same, in whatever order and encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// Reads a query string and a form body as one set.
    pub(super) fn parse(query: &str, body: &[u8]) -> Self {
        let query = form_urlencoded::parse(query.as_bytes());
        let mut pairs: Vec<(String, String)> = query
            .chain(form_urlencoded::parse(body))
            .map(|(name, value)| (name.into_owned(), value.into_owned()))
            .collect();
        // A stable sort on the name alone keeps the order of repeated names, which means something.
        pairs.sort_by(|a, b| a.0.cmp(&b.0));
        Self(pairs)
    }

    /// The value of `name`: the last one when it is repeated, none when it is empty.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let last = self.0.iter().rfind(|(n, _)| n == name);
        last.map(|(_, value)| value.as_str())
            .filter(|v| !v.is_empty())
    }

    pub(super) fn required(&self, name: &str) -> Result<&str, Answer> {
        self.get(name).ok_or_else(|| {
            ApiError::invalid(format!("Missing required param: {name}."))
                .code("parameter_missing")
                .param(name)
                .bad_request()
        })
    }

    /// An amount of money in minor units, at least 1.
    pub(super) fn amount(&self, name: &str) -> Result<Option<u64>, Answer> {
        let Some(text) = self.get(name) else {
            return Ok(None);
        };
        match text.parse() {
            Ok(amount @ 1..=AMOUNT_MAX) => Ok(Some(amount)),
            _ => Err(ApiError::invalid(format!("Invalid integer: {text}"))
                .code("parameter_invalid_integer")
                .param(name)
                .bad_request()),
        }
    }

    /// A boolean, false when absent.
    pub(super) fn flag(&self, name: &str) -> Result<bool, Answer> {
        match self.get(name) {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(text) => Err(ApiError::invalid(format!("Invalid boolean: {text}"))
                .param(name)
                .bad_request()),
        }
    }

    /// The members of a hash: `metadata[scope]=x` gives `("scope", "x")`.
    pub(super) fn members(&self, root: &str) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().filter_map(move |(name, value)| {
            let member = name.strip_prefix(root)?.strip_prefix('[')?;
            Some((member.strip_suffix(']')?, value.as_str()))
        })
    }

    /// Refuses names that the sandbox doesn't model, as Stripe refuses those it doesn't know, so
    /// that a misspelt parameter is found in development. A hash is known by its root.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), Answer> {
        let root = |name: &str| name.split('[').next().unwrap_or_default().to_owned();
        let unknown = self
            .0
            .iter()
            .find(|(name, _)| !known.contains(&root(name).as_str()));
        unknown.map_or(Ok(()), |(name, _)| {
            Err(
                ApiError::invalid(format!("Received unknown parameter: {name}"))
                    .code("parameter_unknown")
                    .param(name)
                    .bad_request(),
            )
        })
    }
}
