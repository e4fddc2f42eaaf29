//! Running an attempt: perform outside, then finish, release or suspend.

use super::{
    Answer, Attempt, Command, Engine, Refusal, Step,
    answer::{self, hold_of},
    attempt::{Turn, backoff},
};
use crate::{
    operations::{Performed, Relay},
    store::{self, Finished, Finishing, Hand, Terms},
};
use fail::fail_point;
use protocol::{
    policy::Route,
    record::{Hold, Outcome, Record},
    scope::Scope,
};
use std::{sync::Arc, time::Duration};

/// After so many attempts an unknown outcome waits for an operator.
const ATTEMPTS_MAX: i32 = 1_000;

impl Engine {
    /// Runs an attempt. A panic in it is an attempt whose outcome is unknown.
    pub(super) async fn run(
        self: &Arc<Self>,
        command: Command,
        turn: Turn,
    ) -> Result<Step, Refusal> {
        fail_point!("claimed", |_| std::process::abort());
        let (route, scope) = (Arc::clone(&command.route), command.record.scope);
        let attempt = Attempt::start(&self.leases, scope, turn, route.lock_ttl);
        let engine = Arc::clone(self);
        let task = self
            .tasks
            .spawn(async move { engine.perform(&command, &attempt).await });
        match task.await {
            Ok(step) => step,
            Err(error) => {
                tracing::error!(scope = %scope.prefix(), "an attempt panicked");
                let suspended = self.suspend(&route, &scope, &turn.hold, turn.attempts);
                self.or_lease(suspended.await);
                Err(Refusal::Panicked(error))
            }
        }
    }

    async fn perform(&self, command: &Command, attempt: &Attempt) -> Result<Step, Refusal> {
        let scope = &command.record.scope;
        match self.operations.perform(command, attempt).await {
            Performed::Finish(finishing) => {
                let terms = Terms::of(&command.route);
                self.finish(command, attempt, &finishing, terms).await
            }
            Performed::Relay(relay) => self.relay(command, attempt, *relay).await,
            Performed::Nothing(refusal) if attempt.is_first() => {
                fail_point!("refused", |_| std::process::abort());
                match self.store.release(scope, &attempt.hold).await {
                    Ok(()) => Err(refusal),
                    Err(store::Error::HoldLost) => self.look(command, attempt).await,
                    Err(error) => Err(error.into()),
                }
            }
            // An earlier attempt may have acted: a refusal now says nothing about it.
            Performed::Nothing(_) | Performed::Unknown => {
                let Attempt { hold, attempts, .. } = attempt;
                match self.suspend(&command.route, scope, hold, *attempts).await {
                    Err(store::Error::HoldLost) => self.look(command, attempt).await,
                    retry_in => {
                        let retry_in = self.or_lease(retry_in);
                        Err(answer::outcome_unknown(&command.route, retry_in).into())
                    }
                }
            }
        }
    }

    /// Finishes with an upstream's answer; its client gets all of it, if it is this one's.
    async fn relay(
        &self,
        command: &Command,
        attempt: &Attempt,
        relay: Relay,
    ) -> Result<Step, Refusal> {
        let Relay {
            finishing,
            terms,
            aside,
        } = relay;
        let step = self.finish(command, attempt, &finishing, terms).await?;
        Ok(match step {
            Step::Answer(answer) if !answer.replayed => Step::Answer(Answer {
                aside: Some(aside),
                ..answer
            }),
            step => step,
        })
    }

    async fn suspend(
        &self,
        route: &Route,
        scope: &Scope,
        hold: &Hold,
        attempts: i32,
    ) -> Result<Duration, store::Error> {
        let retry_in = backoff(attempts, self.limits.retry_max);
        let needs_operator = attempts >= ATTEMPTS_MAX || route.waits_for_operator();
        fail_point!("unknown", |_| std::process::abort());
        self.store
            .suspend(scope, hold, retry_in, needs_operator)
            .await?;
        fail_point!("suspended", |_| std::process::abort());
        Ok(retry_in)
    }

    /// A suspension that could not be written ends with the lease all the same.
    fn or_lease(&self, suspended: Result<Duration, store::Error>) -> Duration {
        suspended.unwrap_or_else(|error| {
            tracing::warn!(error = ?error, "an attempt could not be suspended");
            self.limits.lease
        })
    }

    async fn finish(
        &self,
        command: &Command,
        attempt: &Attempt,
        finishing: &Finishing,
        terms: Terms,
    ) -> Result<Step, Refusal> {
        let mut pause = Duration::from_millis(20);
        fail_point!("performed", |_| std::process::abort());
        loop {
            match self.try_finish(command, attempt, finishing, terms).await {
                Ok(finished) => {
                    fail_point!("finished", |_| std::process::abort());
                    return Ok(Step::Answer(Answer::first(finished)));
                }
                // A zombie: the winner's response is the answer.
                Err(store::Error::HoldLost) => return self.look(command, attempt).await,
                Err(store::Error::EffectExists(_)) => return self.settle(command, attempt).await,
                Err(store::Error::Unavailable(error)) if attempt.has_time_left() => {
                    tracing::warn!(scope = %command.record.scope.prefix(), %error, "finishing again");
                }
                Err(error @ store::Error::Unavailable(_)) => return Err(answer::unfinished(error)),
                Err(error) => return Err(error.into()),
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_secs(1));
        }
    }

    async fn try_finish(
        &self,
        command: &Command,
        attempt: &Attempt,
        finishing: &Finishing,
        terms: Terms,
    ) -> Result<Finished, store::Error> {
        let hand = Hand {
            scope: command.record.scope,
            hold: attempt.hold,
            terms,
        };
        self.store.finish(hand, finishing).await
    }

    /// The effect is older than its record, which must have been lost: what is archived is 410 and
    /// where the resource is.
    async fn settle(&self, command: &Command, attempt: &Attempt) -> Result<Step, Refusal> {
        let scope = &command.record.scope;
        let location = self
            .store
            .order_location(scope, attempt.hold.generation)
            .await?;
        let response = answer::effect_exists(location);
        let finishing = Finishing::Response {
            outcome: Outcome::Succeeded,
            response: Arc::new(response),
        };
        let terms = Terms::of(&command.route);
        let finished = self.try_finish(command, attempt, &finishing, terms).await?;
        Ok(Step::Answer(Answer::first(finished)))
    }

    /// What became of an operation that this attempt no longer holds. A COMMIT whose answer was
    /// lost is found here too: its record names our own hold.
    async fn look(&self, command: &Command, attempt: &Attempt) -> Result<Step, Refusal> {
        match self.find(command).await? {
            Some(stored) if stored.response.is_some() => {
                let ours = *hold_of(&stored.record) == attempt.hold;
                let answer = Answer::replay(stored)?;
                Ok(Step::Answer(Answer {
                    replayed: !ours,
                    ..answer
                }))
            }
            Some(stored) if matches!(stored.record, Record::Pending(_)) => {
                Ok(Step::InProgress(Box::new(stored)))
            }
            // Finished without a kept body, or released: the record decides again.
            Some(_) => Ok(Step::Again),
            None => Err(answer::outcome_unknown(&command.route, self.limits.retry_max).into()),
        }
    }
}
