//! For tests alone: statements that name no fence and no owner, so that chaos can show what they
//! are for. Compiled in by the feature `unfenced`, and in force where `UNFENCED` is set.

use sqlx::{AssertSqlSafe, Execute, Postgres, SqlSafeStr, SqlStr, error::BoxDynError};
use std::sync::LazyLock;

/// Each check, and what stands there when it is gone: parameters keep their types.
const CHECKS: [(&str, &str); 12] = [
    ("AND fence = $3", "AND $3::bigint > 0"),
    ("AND owner = $4", "AND $4::uuid IS NOT NULL"),
    ("AND r.fence = $3", ""),
    ("AND r.owner = $4", ""),
    ("AND fence = $15", "AND $15::bigint > 0"),
    ("AND owner = $16", "AND $16::uuid IS NOT NULL"),
    ("AND r.fence = h.fence", ""),
    ("AND r.owner = h.owner", ""),
    ("AND r.fence = held.fence", ""),
    ("AND r.owner = held.owner", ""),
    ("AND r.fence = f.fence", ""),
    ("AND r.owner = f.owner", ""),
];

static IS_ON: LazyLock<bool> = LazyLock::new(|| std::env::var_os("UNFENCED").is_some());

/// A query without its checks.
pub(super) struct Unfenced<E>(pub E);

impl<'q, E: Execute<'q, Postgres>> Execute<'q, Postgres> for Unfenced<E> {
    fn sql(self) -> SqlStr {
        let sql = self.0.sql();
        if !*IS_ON {
            return sql;
        }
        let all = sql.as_str().to_owned();
        let without = |sql: String, (check, nothing): &(&str, &str)| sql.replace(check, nothing);
        AssertSqlSafe(CHECKS.iter().fold(all, without)).into_sql_str()
    }

    fn statement(&self) -> Option<&sqlx::postgres::PgStatement> {
        self.0.statement()
    }

    fn take_arguments(&mut self) -> Result<Option<sqlx::postgres::PgArguments>, BoxDynError> {
        self.0.take_arguments()
    }

    fn persistent(&self) -> bool {
        self.0.persistent()
    }
}
