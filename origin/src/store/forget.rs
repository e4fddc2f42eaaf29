//! Forgetting: records that are gone for good.

use super::{Error, Store, records::scope_of};
use protocol::scope::Scope;

impl Store {
    /// Removes a record that has ended, with its archived response.
    pub async fn forget(&self, scope: &Scope) -> Result<(), Error> {
        sqlx::query(
            "WITH forgotten AS (
                 DELETE FROM idempotency_records WHERE scope = $1 AND state <> 'pending'
                 RETURNING scope, archive_day)
             DELETE FROM archived_responses a USING forgotten
             WHERE a.expires_day = forgotten.archive_day AND a.scope = forgotten.scope",
        )
        .bind(scope.0.as_slice())
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// Deletes, of the `limit` records that follow `after`, those whose tombstones have ended. Gives
    /// back the last one that was looked at, or nothing where there is no further one: so all are
    /// seen in turn, in the order of the primary key.
    pub async fn delete_tombstones(
        &self,
        after: Option<&Scope>,
        limit: i64,
    ) -> Result<Option<Scope>, Error> {
        let last = sqlx::query(
            "WITH seen AS MATERIALIZED (
                 SELECT scope, tombstone_ends FROM idempotency_records
                 WHERE scope > $1 ORDER BY scope LIMIT $2),
             forgotten AS (
                 DELETE FROM idempotency_records r USING seen
                 WHERE r.scope = seen.scope AND seen.tombstone_ends <= clock_timestamp()
                   AND r.tombstone_ends <= clock_timestamp()
                   AND r.state IN ('succeeded', 'failed'))
             SELECT scope FROM seen ORDER BY scope DESC LIMIT 1",
        )
        .bind(after.map_or(&[][..], |scope| scope.0.as_slice()))
        .bind(limit)
        .fetch_optional(&self.pool)
        .await?;
        last.map(|row| scope_of(&row)).transpose()
    }
}
