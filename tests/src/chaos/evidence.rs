//! What the database, the provider and the receiver of events hold in the end.

use super::{
    command::{self, Command},
    inbox::Event,
};
use crate::{
    database::Database,
    sandbox::{Charge, Sandbox},
};
use sqlx::FromRow;
use std::collections::HashMap;

/// All of it.
#[derive(Debug, Clone, Default)]
pub struct Evidence {
    /// What the provider charged, given back or not.
    pub charges: Vec<Charge>,
    /// What the origins recorded.
    pub orders: Vec<Order>,
    /// The state of each key.
    pub records: Vec<Record>,
    /// What is replayed, by key.
    pub archived: HashMap<usize, Vec<Vec<u8>>>,
    /// What was written to be published.
    pub outbox: Vec<Written>,
    /// What the receiver has taken.
    pub received: Vec<Event>,
    /// Charges that are to be given back.
    pub refunds: Vec<Refund>,
    /// How many of the rare pieces are left.
    pub rare_left: i64,
}

/// A row of `orders`.
#[derive(Debug, Clone, FromRow)]
pub struct Order {
    /// `ord_…`.
    pub id: String,
    /// Names its command.
    pub amount: i64,
    /// The provider's.
    pub charge_id: String,
}

/// A row of `idempotency_records`.
#[derive(Debug, Clone, FromRow)]
pub struct Record {
    /// Its name.
    pub scope: Vec<u8>,
    /// `pending`, `succeeded`, `failed` or `released`.
    pub state: String,
    /// Whether only an operator can go on with it.
    pub needs_operator: bool,
}

/// A row of `outbox`.
#[derive(Debug, Clone, FromRow)]
pub struct Written {
    /// Its own key.
    pub event_id: String,
    /// `order.created`.
    pub r#type: String,
    /// The order.
    pub subject: String,
    /// Whether the relay says that the receiver has it.
    pub is_published: bool,
}

/// A row of `refunds`.
#[derive(Debug, Clone, FromRow)]
pub struct Refund {
    /// What is given back.
    pub charge_id: String,
    /// Whether it was.
    pub is_refunded: bool,
}

impl Order {
    /// What was ordered.
    pub fn command(&self) -> Option<Command> {
        Command::of_amount(u64::try_from(self.amount).ok()?)
    }
}

impl Evidence {
    /// Reads everything; `keys` are those of the run.
    pub async fn gather(
        (database, sandbox): (&Database, &Sandbox),
        received: Vec<Event>,
        (seed, keys): (u64, &[usize]),
    ) -> Self {
        let archived: Vec<(Vec<u8>, Vec<u8>)> = database
            .rows("SELECT scope, body FROM archived_responses ORDER BY scope, generation")
            .await;
        let mut by_scope = HashMap::<_, Vec<_>>::new();
        for (scope, body) in archived {
            by_scope.entry(scope).or_default().push(body);
        }
        let of = |key: &usize| {
            let bodies = by_scope.remove(command::scope(seed, *key).0.as_slice());
            (*key, bodies.unwrap_or_default())
        };
        Self {
            charges: sandbox.charges().await,
            orders: database
                .rows("SELECT id, amount, charge_id FROM orders")
                .await,
            records: database
                .rows("SELECT scope, state, needs_operator FROM idempotency_records")
                .await,
            archived: keys.iter().map(of).collect(),
            outbox: database
                .rows(
                    "SELECT event_id, type, subject, published_at IS NOT NULL AS is_published
                     FROM outbox ORDER BY id",
                )
                .await,
            received,
            refunds: database
                .rows("SELECT charge_id, refunded_at IS NOT NULL AS is_refunded FROM refunds")
                .await,
            rare_left: database.stock(command::RARE).await,
        }
    }
}
