//! What the keys of the load stand for. Each has two commands, and each command an amount of its
//! own: every charge, order and answer says by itself where it belongs, whatever the origin thinks.

use protocol::{
    key::Key,
    principal::Principal,
    scope::{KeyKind, Scope},
};
use serde_json::json;

/// A piece of which there are few.
pub const RARE: &str = "RARE";
/// How many of them.
pub const RARE_PIECES: usize = 10;

const FIRST_AMOUNT: u64 = 1_000;

/// One of the two commands of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Command {
    /// Which key.
    pub key: usize,
    /// Whether it is the rarer one of the two. Whichever comes first, the other mismatches.
    pub is_other: bool,
}

impl Command {
    /// Both commands of a key.
    pub fn of_key(key: usize) -> [Self; 2] {
        [false, true].map(|is_other| Self { key, is_other })
    }

    /// Minor units.
    pub fn amount(self) -> u64 {
        FIRST_AMOUNT + 2 * self.key as u64 + u64::from(self.is_other)
    }

    /// The command of this amount.
    pub fn of_amount(amount: u64) -> Option<Self> {
        let offset = amount.checked_sub(FIRST_AMOUNT)?;
        Some(Self {
            key: usize::try_from(offset / 2).ok()?,
            is_other: offset % 2 == 1,
        })
    }

    /// What is sent: mostly an order that succeeds.
    pub fn body(self) -> String {
        let destination = match self.key % 13 {
            5 => "acct_declined",
            _ => "acct_1",
        };
        let sku = if self.wants_rare() { RARE } else { "A1" };
        let items = json!([{ "sku": sku, "quantity": 1 }]);
        json!({
            "amount": self.amount(), "currency": "EUR", "destination": destination, "items": items,
        })
        .to_string()
    }

    /// Whether it may be sold out.
    pub fn wants_rare(self) -> bool {
        self.key % 7 == 2
    }
}

/// The text of a key.
pub fn text(seed: u64, key: usize) -> String {
    format!("chaos-{seed}-{key}")
}

/// The name of its record.
pub fn scope(seed: u64, key: usize) -> Scope {
    let key = Key::new(text(seed, key).into_bytes()).expect("visible ASCII");
    Scope::new(&Principal::Anonymous, KeyKind::Sent, &key, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_names_its_command() {
        for key in [0, 1, 77] {
            for is_other in [false, true] {
                let command = Command { key, is_other };
                assert_eq!(Command::of_amount(command.amount()), Some(command));
            }
        }
        assert_eq!(Command::of_amount(1), None);
    }
}
