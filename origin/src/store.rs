//! Postgres, the authority. The only SQL of the project is below this module.
//!
//! Read Committed throughout. Every write names scope, expected state, fence and owner in its
//! WHERE and must touch exactly one row; expiry is judged by the database's clock alone.

mod batch;
mod claims;
mod connection;
mod finds;
mod finish;
mod forget;
mod holds;
mod operator;
mod orders;
mod outbox;
mod partitions;
mod pool;
mod records;
mod refunds;
mod row;
#[cfg(feature = "unfenced")]
mod unfenced;

pub use connection::Store;
pub use finish::{Finished, Finishing, Hand, Terms};
pub use holds::{Renewal, TakenOver};
pub use operator::{By, Change, Desk, Filter, Summary};
pub use orders::{Order, Placement};
pub use outbox::{Event, Unpublished};
pub use records::{Claimed, NewRecord, Stored};
pub use refunds::Refund;

use std::sync::Arc;

/// What can go wrong between here and a row.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// Postgres can't be reached, or the connection broke.
    #[error("the store can't be reached")]
    Unavailable(#[source] Arc<sqlx::Error>),
    /// A claim was sent and not answered: it may be there.
    #[error("the store did not answer a claim")]
    Unanswered(#[source] Arc<sqlx::Error>),
    /// A statement failed: a defect of ours.
    #[error("a statement failed")]
    Statement(#[source] Arc<sqlx::Error>),
    /// A row holds a combination that no transition writes.
    #[error("a row of {table} is inconsistent: {what}")]
    Inconsistent {
        /// Which table.
        table: &'static str,
        /// What does not fit.
        what: &'static str,
    },
    /// The effect is there already, though no record says so: the last line of defence.
    #[error("the effect exists already")]
    EffectExists(#[source] Arc<sqlx::Error>),
    /// Fence, owner or state no longer hold: another attempt has taken over.
    #[error("the attempt no longer holds the record")]
    HoldLost,
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        match &error {
            sqlx::Error::Database(e) if e.constraint().is_some_and(orders::is_one_effect) => {
                Self::EffectExists(Arc::new(error))
            }
            _ if is_unavailable(&error) => Self::Unavailable(Arc::new(error)),
            _ => Self::Statement(Arc::new(error)),
        }
    }
}

impl Error {
    /// What this means for a claim: only without a connection, or told so by the server, is it
    /// known that nothing was written.
    fn of_claim(self) -> Self {
        use sqlx::Error::{Database, PoolClosed, PoolTimedOut};
        match self {
            Self::Unavailable(error)
                if !matches!(*error, Database(_) | PoolClosed | PoolTimedOut) =>
            {
                Self::Unanswered(error)
            }
            other => other,
        }
    }
}

/// Connection trouble, and the answers of a server that starts, stops or fails over: SQLSTATE
/// classes 08 and 57P, 25006 (a standby), 53300 (too many connections), 42P01 (a table that the
/// migration under way has yet to make).
fn is_unavailable(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::Protocol(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed => true,
        sqlx::Error::Database(error) => error.code().is_some_and(|code| {
            code.starts_with("08")
                || code.starts_with("57P")
                || [
                    "25006", "53300", "42P01", "40001", "40P01", "55P03", "57014",
                ]
                .contains(&&*code)
        }),
        _ => false,
    }
}

/// Whether a write touched its one row.
fn one_row(affected: u64) -> Result<(), Error> {
    if affected == 1 {
        Ok(())
    } else {
        Err(Error::HoldLost)
    }
}
