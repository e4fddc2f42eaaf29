//! Partitions of the archive: one a day, created ahead, dropped whole behind.

use super::{Error, Store};
use sqlx::AssertSqlSafe;
use time::{Date, Duration, macros::format_description};

impl Store {
    /// Makes the partitions of today and the next `days` days, where they are not there yet.
    pub async fn create_partitions(&self, days: i64) -> Result<(), Error> {
        let today = self.today().await?;
        for day in (0..=days).map(|n| today + Duration::days(n)) {
            let (name, from, to) = (name(day), text(day), text(day + Duration::DAY));
            // Dates that we format ourselves; a partition's bounds take no parameters.
            let create = format!(
                "CREATE TABLE IF NOT EXISTS {name} PARTITION OF archived_responses
                 FOR VALUES FROM ('{from}') TO ('{to}')"
            );
            sqlx::query(AssertSqlSafe(create))
                .execute(&self.pool)
                .await?;
        }
        Ok(())
    }

    /// Drops the partitions of days that are over; gives back how many.
    pub async fn drop_partitions(&self) -> Result<usize, Error> {
        let today = name(self.today().await?);
        let partitions: Vec<(String,)> = sqlx::query_as(
            "SELECT c.relname::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
             WHERE i.inhparent = 'archived_responses'::regclass AND c.relname < $1
               AND c.relname LIKE 'archived\\_responses\\_2%' ORDER BY 1",
        )
        .bind(today)
        .fetch_all(&self.pool)
        .await?;
        for (partition,) in &partitions {
            let drop = format!("DROP TABLE IF EXISTS {partition}");
            sqlx::query(AssertSqlSafe(drop)).execute(&self.pool).await?;
        }
        Ok(partitions.len())
    }

    async fn today(&self) -> Result<Date, Error> {
        let (today,) = sqlx::query_as("SELECT (clock_timestamp() AT TIME ZONE 'UTC')::date")
            .fetch_one(&self.pool)
            .await?;
        Ok(today)
    }
}

fn name(day: Date) -> String {
    format!("archived_responses_{}", text(day).replace('-', ""))
}

fn text(day: Date) -> String {
    let form = format_description!("[year]-[month]-[day]");
    day.format(form).unwrap_or_default()
}
