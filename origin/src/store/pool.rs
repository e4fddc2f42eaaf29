//! The pool, and how long a statement may go without an answer.

use futures_util::{
    TryFutureExt, TryStreamExt,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use sqlx::{
    Describe, Either, Execute, Executor, PgPool, Postgres, SqlStr,
    pool::PoolConnection,
    postgres::{PgQueryResult, PgRow, PgStatement, PgTypeInfo},
};
use std::{io, time::Duration};

/// How long a statement may go without an answer. The server ends its own sooner, so whoever says
/// nothing for so long is no longer there: a machine that lost its power refuses nothing.
const ANSWER_WITHIN: Duration = Duration::from_secs(6);

/// Connections whose statements all end: answered, or given up with their connection.
#[derive(Debug, Clone)]
pub(super) struct Pool(pub PgPool);

/// A connection with a statement under way. When it is dropped before its end, nobody knows what
/// is still to come on it, so that it may not go back into the pool (CASES C60).
struct Busy {
    connection: PoolConnection<Postgres>,
    ended: bool,
}

impl Pool {
    /// A connection. That there is none says that nothing was sent.
    async fn acquire(&self) -> Result<Busy, sqlx::Error> {
        let connection = self.0.acquire().await.map_err(|error| match error {
            sqlx::Error::Io(_) => sqlx::Error::PoolTimedOut,
            other => other,
        })?;
        Ok(Busy {
            connection,
            ended: false,
        })
    }
}

impl Busy {
    async fn run<T>(
        &mut self,
        statement: impl AsyncFnOnce(&mut PoolConnection<Postgres>) -> Result<T, sqlx::Error>,
    ) -> Result<T, sqlx::Error> {
        let answer = tokio::time::timeout(ANSWER_WITHIN, statement(&mut self.connection)).await;
        let answer = answer.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?;
        self.ended = true;
        answer
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        if !self.ended {
            self.connection.close_on_drop();
        }
    }
}

impl<'p> Executor<'p> for &Pool {
    type Database = Postgres;

    fn fetch_many<'e, 'q: 'e, E>(
        self,
        query: E,
    ) -> BoxStream<'e, Result<Either<PgQueryResult, PgRow>, sqlx::Error>>
    where
        'p: 'e,
        E: 'q + Execute<'q, Postgres>,
    {
        let pool = self.clone();
        #[cfg(feature = "unfenced")]
        let query = super::unfenced::Unfenced(query);
        let all = async move {
            let mut busy = pool.acquire().await?;
            let all = busy.run(async |on| on.fetch_many(query).try_collect::<Vec<_>>().await);
            Ok(stream::iter(all.await?.into_iter().map(Ok)))
        };
        Box::pin(all.try_flatten_stream())
    }

    fn fetch_optional<'e, 'q: 'e, E>(
        self,
        query: E,
    ) -> BoxFuture<'e, Result<Option<PgRow>, sqlx::Error>>
    where
        'p: 'e,
        E: 'q + Execute<'q, Postgres>,
    {
        let mut rows = self.fetch(query);
        Box::pin(async move { rows.try_next().await })
    }

    fn prepare_with<'e>(
        self,
        sql: SqlStr,
        parameters: &'e [PgTypeInfo],
    ) -> BoxFuture<'e, Result<PgStatement, sqlx::Error>>
    where
        'p: 'e,
    {
        self.0.prepare_with(sql, parameters)
    }

    fn describe<'e>(self, sql: SqlStr) -> BoxFuture<'e, Result<Describe<Postgres>, sqlx::Error>>
    where
        'p: 'e,
    {
        self.0.describe(sql)
    }
}
