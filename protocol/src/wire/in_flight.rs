//! The words between a Worker and the `InFlight` shard, versioned: both versions run during a deploy.
//!
//! A call is a text, a reply a number. Landings travel as bytes: alone, or aboard a take of the same
//! shard, which saves a call each.

use crate::{
    fingerprint::Fingerprint,
    flight::{Millis, Take, Token},
    principal::Principal,
    scope::Scope,
    wire::hex,
};

/// Version of these words. An object that meets another one replies [`Reply::AskOrigin`].
const VERSION: &str = "1";

/// What the shard replies, where it is no landed response
/// ([`crate::response::Response::encode`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// The lock is the caller's.
    Lead,
    /// Another leads and the wait is over.
    Busy {
        /// Seconds until it is worth while to come again.
        retry_after: u32,
    },
    /// The key names another command.
    Mismatch,
    /// The shard can't tell: go to the origin without a lock.
    AskOrigin,
}

impl Reply {
    /// A number is all that has to travel.
    pub fn to_number(self) -> u32 {
        match self {
            Self::AskOrigin => 0,
            Self::Lead => 1,
            Self::Mismatch => 2,
            Self::Busy { retry_after } => retry_after.saturating_add(BUSY),
        }
    }

    /// Reads [`Self::to_number`] back.
    pub fn from_number(number: u32) -> Self {
        match number {
            1 => Self::Lead,
            2 => Self::Mismatch,
            BUSY.. => Self::Busy {
                retry_after: number - BUSY,
            },
            0 => Self::AskOrigin,
        }
    }
}

/// From here on, a number is the seconds of a [`Reply::Busy`].
const BUSY: u32 = 3;

/// What a Worker asks of the shard.
#[derive(Debug, Clone, Copy)]
pub enum Call {
    /// The lock, or the leader's answer within `wait`.
    Take {
        /// What is asked for.
        take: Take,
        /// How long the caller waits.
        wait: Millis,
    },
    /// The holder is still at it.
    Renew {
        /// Which flight.
        scope: Scope,
        /// Who holds it.
        token: Token,
    },
    /// Holders' calls have ended: there is a [`Landed`] for each.
    Land,
}

/// The end of a flight, as it travels with a land or a take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Landed<'a> {
    /// Which flight.
    pub scope: Scope,
    /// Who holds it.
    pub token: Token,
    /// How long the response may be replayed.
    pub keep_for: Millis,
    /// [`crate::response::Response::encode`]; empty when the response is not archived.
    pub response: &'a [u8],
}

impl<'a> Landed<'a> {
    /// Appends it to others.
    pub fn encode(&self, body: &mut Vec<u8>) {
        body.extend_from_slice(&self.scope.0);
        body.extend_from_slice(&self.token.0);
        body.extend_from_slice(&self.keep_for.to_be_bytes());
        let length = u32::try_from(self.response.len()).unwrap_or(u32::MAX);
        body.extend_from_slice(&length.to_be_bytes());
        body.extend_from_slice(self.response);
    }

    /// Takes the first one off; `None` at the end, or where it is not of this form.
    pub fn decode(body: &mut &'a [u8]) -> Option<Self> {
        let (scope, rest) = body.split_first_chunk()?;
        let (token, rest) = rest.split_first_chunk()?;
        let (keep_for, rest) = rest.split_first_chunk()?;
        let (length, rest) = rest.split_first_chunk()?;
        let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
        let (response, rest) = rest.split_at_checked(length)?;
        *body = rest;
        let keep_for = Millis::from_be_bytes(*keep_for);
        Some(Self {
            scope: Scope(*scope),
            token: Token(*token),
            keep_for,
            response,
        })
    }
}

impl Call {
    /// The call as text.
    pub fn to_words(&self) -> String {
        match self {
            Self::Take { take, wait } => format!(
                "/{VERSION}/take/{}/{}/{}/{}/{wait}",
                hex::encode(&take.scope.0),
                take.fingerprint.to_field(),
                hex::encode(&take.token.0),
                take.lock_ttl,
            ),
            Self::Renew { scope, token } => {
                format!(
                    "/{VERSION}/renew/{}/{}",
                    hex::encode(&scope.0),
                    hex::encode(&token.0)
                )
            }
            Self::Land => format!("/{VERSION}/land"),
        }
    }

    /// Reads [`Self::to_words`] back; `None` for another version's words.
    pub fn from_words(words: &str) -> Option<Self> {
        let mut parts = words.strip_prefix('/')?.split('/');
        let (version, verb) = (parts.next()?, parts.next()?);
        let call = match (version, verb) {
            (VERSION, "take") => Self::take(&mut parts)?,
            (VERSION, "renew") => {
                let scope = Scope(hex::decode(parts.next()?)?);
                Self::Renew {
                    scope,
                    token: Token(hex::decode(parts.next()?)?),
                }
            }
            (VERSION, "land") => Self::Land,
            _ => return None,
        };
        parts.next().is_none().then_some(call)
    }

    fn take<'a>(parts: &mut impl Iterator<Item = &'a str>) -> Option<Self> {
        let scope = Scope(hex::decode(parts.next()?)?);
        let fingerprint = Fingerprint::from_field(parts.next()?)?;
        let token = Token(hex::decode(parts.next()?)?);
        let lock_ttl = parts.next()?.parse().ok()?;
        let wait = parts.next()?.parse().ok()?;
        Some(Self::Take {
            take: Take {
                scope,
                fingerprint,
                token,
                lock_ttl,
            },
            wait,
        })
    }
}

/// The name of the object that holds a scope's flight: near its clients, shared by many keys.
pub fn object_name(continent: &str, principal: &Principal, scope: &Scope, shards: u32) -> String {
    let spread = scope
        .0
        .first_chunk::<4>()
        .map_or(0, |bytes| u32::from_be_bytes(*bytes));
    let shard = spread % shards.max(1);
    format!("{continent}/{}/{shard}", hex::encode(&principal.to_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_read_back() {
        let scope = Scope([0xab; 32]);
        let token = Token([0xcd; 16]);
        let fingerprint = Fingerprint {
            version: 1,
            digest: [9; 32],
        };
        let take = Take {
            scope,
            fingerprint,
            token,
            lock_ttl: 600_000,
        };
        let calls = [
            Call::Take { take, wait: 30_000 },
            Call::Renew { scope, token },
            Call::Land,
        ];
        for call in calls {
            let read = Call::from_words(&call.to_words()).unwrap();
            assert_eq!(read.to_words(), call.to_words());
        }
    }

    #[test]
    fn replies_are_read_back() {
        let replies = [
            Reply::Lead,
            Reply::Mismatch,
            Reply::AskOrigin,
            Reply::Busy { retry_after: 0 },
            Reply::Busy { retry_after: 3_600 },
        ];
        for reply in replies {
            assert_eq!(Reply::from_number(reply.to_number()), reply);
        }
    }

    #[test]
    fn landings_are_read_back_one_by_one() {
        let token = Token([0xcd; 16]);
        let landed = |n: u8, response| Landed {
            scope: Scope([n; 32]),
            token,
            keep_for: 9,
            response,
        };
        let landings = [
            landed(1, &b"first"[..]),
            landed(2, b""),
            landed(3, b"third"),
        ];
        let mut body = Vec::new();
        for landed in &landings {
            landed.encode(&mut body);
        }
        let mut rest = body.as_slice();
        let read: Vec<_> = std::iter::from_fn(|| Landed::decode(&mut rest)).collect();
        assert_eq!(read, landings);
        assert_eq!(
            Landed::decode(&mut body.get(..60).unwrap_or_default()),
            None,
            "cut short"
        );
    }

    #[test]
    fn the_words_of_another_version_are_not_understood() {
        let scope = Scope([1; 32]);
        let words = Call::Renew {
            scope,
            token: Token([1; 16]),
        }
        .to_words();
        assert!(Call::from_words(&words.replacen("/1/", "/2/", 1)).is_none());
        assert!(Call::from_words(&format!("{words}/more")).is_none());
        assert!(Call::from_words("/").is_none());
    }

    #[test]
    fn principals_and_continents_do_not_share_objects() {
        let scope = Scope([1; 32]);
        let header = Principal::from_header("x-api-key", b"k");
        let names = [
            object_name("EU", &Principal::Anonymous, &scope, 16),
            object_name("NA", &Principal::Anonymous, &scope, 16),
            object_name("EU", &header, &scope, 16),
            object_name(
                "EU",
                &Principal::Anonymous,
                &Scope([0, 0, 0, 2].repeat(8).try_into().unwrap()),
                16,
            ),
        ];
        let distinct: std::collections::HashSet<_> = names.iter().collect();
        assert_eq!(distinct.len(), 4);
    }
}
