//! Which records are meant.

use crate::Failure;
use clap::Args;
use origin::store::Filter;
use protocol::{key::Key, principal::Principal, scope::Scope, wire::hex};
use std::{io::Read, time::Duration};

/// A selection; all that is named holds at once.
#[derive(Debug, Args)]
pub(crate) struct Select {
    /// The first hexadecimal digits of the scope.
    #[arg(long, value_name = "DIGITS")]
    scope: Option<String>,
    /// The client's key, or - to read it from standard input. It is hashed, and goes nowhere.
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// "anonymous", or the first digits of the principal's digest, an even number of them.
    #[arg(long, value_name = "DIGITS")]
    principal: Option<String>,
    /// The state.
    #[arg(long, value_parser = ["pending", "succeeded", "failed", "released"])]
    state: Option<String>,
    /// Only what waits for an operator.
    #[arg(long, conflicts_with = "state")]
    needs_operator: bool,
    /// First seen longer ago than this: "90s", "30m", "24h" or "7d".
    #[arg(long, value_name = "AGE", value_parser = age)]
    older_than: Option<Duration>,
    /// At most so many.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(i64).range(1..))]
    limit: i64,
}

/// Hexadecimal digits of a scope and of a principal's digest.
const DIGITS: usize = 64;

impl Select {
    /// Whether it names nothing.
    pub(super) fn is_everything(&self) -> bool {
        let named = [&self.scope, &self.key, &self.principal, &self.state];
        named.iter().all(|named| named.is_none())
            && !self.needs_operator
            && self.older_than.is_none()
    }

    /// As the store takes it.
    pub(super) fn filter(&self) -> Result<Filter, Failure> {
        Ok(Filter {
            scopes: self.scope.as_deref().map(scopes).transpose()?,
            key_hash: self.key.as_deref().map(key_hash).transpose()?,
            principal: self.principal.as_deref().map(principal).transpose()?,
            // Only what is pending waits for anybody, and there is an index of that.
            state: if self.needs_operator {
                Some("pending".to_owned())
            } else {
                self.state.clone()
            },
            needs_operator: self.needs_operator,
            older_than: self.older_than,
            limit: self.limit,
        })
    }
}

/// Up to two records whose scope begins so: one, or an ambiguity.
pub(super) fn by_scope(digits: &str) -> Result<Filter, Failure> {
    Ok(Filter {
        scopes: Some(scopes(digits)?),
        limit: 2,
        ..Filter::default()
    })
}

/// The least and the greatest scope that begin with these digits.
fn scopes(digits: &str) -> Result<(Scope, Scope), Failure> {
    let bound = |fill| filled(digits, fill).map(Scope);
    let scopes = bound('0').zip(bound('f'));
    scopes.ok_or_else(|| "a scope is 1 to 64 hexadecimal digits".into())
}

/// 32 bytes that begin with these digits.
fn filled(digits: &str, fill: char) -> Option<[u8; 32]> {
    if digits.is_empty() || digits.len() > DIGITS {
        return None;
    }
    let filled: String = digits
        .chars()
        .chain(std::iter::repeat(fill))
        .take(DIGITS)
        .collect();
    hex::decode(&filled.to_ascii_lowercase())
}

fn key_hash(key: &str) -> Result<[u8; 32], Failure> {
    let mut text = key.to_owned();
    if key == "-" {
        text.clear();
        std::io::stdin().read_to_string(&mut text)?;
    }
    let key = Key::parse([text.as_bytes()]).map_err(|error| error.to_string())?;
    let key = key.ok_or("there is no key")?;
    Ok(key.hash())
}

fn principal(text: &str) -> Result<Vec<u8>, Failure> {
    if text == "anonymous" {
        return Ok(Principal::Anonymous.to_bytes().to_vec());
    }
    let bytes = filled(text, '0').filter(|_| text.len().is_multiple_of(2));
    let bytes =
        bytes.ok_or("a principal is \"anonymous\" or an even number of hexadecimal digits")?;
    Ok(bytes.into_iter().take(text.len() / 2).collect())
}

fn age(text: &str) -> Result<Duration, String> {
    let wrong = || "write \"90s\", \"30m\", \"24h\" or \"7d\"".to_owned();
    let unit = text.chars().next_back().ok_or_else(wrong)?;
    let number = text
        .strip_suffix(unit)
        .and_then(|number| number.parse().ok());
    let number: u64 = number.ok_or_else(wrong)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        _ => return Err(wrong()),
    };
    let seconds = number.checked_mul(seconds).ok_or_else(wrong)?;
    Ok(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_a_range_of_scopes() {
        let (least, greatest) = scopes("AbC").unwrap();
        assert_eq!(least.0[..2], [0xab, 0xc0]);
        assert_eq!(greatest.0[..2], [0xab, 0xcf]);
        assert_eq!((least.0[31], greatest.0[31]), (0, 0xff));
        for wrong in ["", "xyz", &"0".repeat(65)] {
            assert!(scopes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_age_has_a_unit() {
        assert_eq!(age("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(age("7d"), Ok(Duration::from_hours(168)));
        for wrong in ["", "s", "90", "1.5h", "-1s", "18446744073709551615d"] {
            assert!(age(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_principal_is_a_prefix_of_its_digest() {
        assert_eq!(principal("0aff").unwrap(), [0x0a, 0xff]);
        assert_eq!(principal("anonymous").unwrap().len(), 32);
        assert!(principal("0af").is_err());
    }
}
