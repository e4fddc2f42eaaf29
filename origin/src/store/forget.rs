//! Forgetting: records that are gone for good.

use super::{Error, Store};
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
}
