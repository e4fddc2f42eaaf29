//! A shard of the edge: protocol's own `Flights`, rebuilt from the calls that made it what it is.
//!
//! `Flights` can't be compared or hashed, and need not: a list of calls can. A call after which
//! the shard answers as before is not kept.

use crate::{command::Command, database::Answer, world::SCOPE};
use protocol::{
    fingerprint::Fingerprint,
    flight::{Flights, Landing, Limits, Millis, Take, Taken, Token},
};

/// What a shard is asked or suffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Call {
    Take(u8, Command),
    Land(u8, Option<Answer>),
    /// Longer than a lock's lease, and than a landed response is kept.
    TimePasses,
}

/// What made the flight what it is; nothing where there is none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Shard(pub(crate) Vec<Call>);

/// The token of a flight whose Worker is gone.
const NOBODYS: u8 = 0;

type Probe = [Taken<Answer>; 2];

impl Shard {
    /// Takes the lock for a request, or says why not.
    pub(crate) fn take(&mut self, token: u8, command: Command) -> Taken<Answer> {
        let (mut flights, now) = self.flights();
        let found = flights.take(&take(token, command.fingerprint()), now);
        if found == Taken::Lead {
            // Whatever was there is replaced.
            self.0 = vec![Call::Take(token, command)];
        }
        found
    }

    /// Lands, or lets time pass.
    pub(crate) fn call(&mut self, call: Call) {
        let before = self.probe();
        self.0.push(call);
        let after = self.probe();
        let has_landed = self.0.iter().any(|call| matches!(call, Call::Land(..)));
        if after == before {
            self.0.pop();
        } else if has_landed && after == Self::default().probe() {
            self.0.clear();
        }
    }

    /// Forgets a token that no Worker bears any more, or that is of no more use since it landed.
    pub(crate) fn forget_token(&mut self, is_borne: impl Fn(u8) -> bool) {
        let has_landed = self.0.iter().any(|call| matches!(call, Call::Land(..)));
        for call in &mut self.0 {
            if let Call::Take(token, _) | Call::Land(token, _) = call
                && (has_landed || !is_borne(*token))
            {
                *token = NOBODYS;
            }
        }
    }

    /// What a newcomer with either command would be told.
    fn probe(&self) -> Probe {
        [Command::A, Command::B].map(|command| {
            let (mut flights, now) = self.flights();
            flights.take(&take(u8::MAX, command.fingerprint()), now)
        })
    }

    fn flights(&self) -> (Flights<Answer, ()>, Millis) {
        let limits = Limits::default();
        let mut flights = Flights::new(limits);
        let mut now = 0;
        for call in &self.0 {
            match call {
                Call::Take(token, command) => {
                    flights.take(&take(*token, command.fingerprint()), now);
                }
                Call::Land(token, answer) => {
                    let landing = answer.map(|response| Landing {
                        response,
                        bytes: 1,
                        keep_for: limits.lease,
                    });
                    flights.land(&SCOPE, Token([*token; 16]), landing, now);
                }
                Call::TimePasses => now += limits.lease,
            }
        }
        (flights, now)
    }
}

fn take(token: u8, fingerprint: Fingerprint) -> Take {
    Take {
        scope: SCOPE,
        fingerprint,
        token: Token([token; 16]),
        lock_ttl: 600_000,
    }
}
