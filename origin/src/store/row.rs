//! Rows become states in one match; any other combination is inconsistent.

use super::Error;
use protocol::{
    fingerprint::Fingerprint,
    record::{Archive, Finished, Hold, Instant, Outcome, Pending, Record},
};
use sqlx::{FromRow, types::Uuid};
use time::OffsetDateTime;

/// The columns of a record that decide.
#[derive(Debug, FromRow)]
pub(super) struct RecordRow {
    pub fingerprint: Vec<u8>,
    pub fingerprint_version: i16,
    pub generation: i32,
    pub state: String,
    pub fence: i64,
    pub owner: Uuid,
    pub lease_end: OffsetDateTime,
    pub may_have_acted: bool,
    pub needs_operator: bool,
    pub expires_at: Option<OffsetDateTime>,
    pub archive_day: Option<time::Date>,
    pub location: Option<String>,
    pub attempts: i32,
    pub first_seen: OffsetDateTime,
    pub now: OffsetDateTime,
}

/// Microseconds since the epoch: the resolution of a timestamptz.
pub(super) fn instant(time: OffsetDateTime) -> Instant {
    i64::try_from(time.unix_timestamp_nanos() / 1_000).unwrap_or(Instant::MAX)
}

impl RecordRow {
    /// The state of this row. `archived` says whether its response was found.
    pub(super) fn record(&self, archived: bool) -> Result<Record, Error> {
        let hold = Hold {
            generation: self.generation,
            fence: self.fence,
            owner: self.owner.into_bytes(),
        };
        match (self.state.as_str(), self.expires_at) {
            ("pending", None) => Ok(Record::Pending(Pending {
                fingerprint: self.fingerprint()?,
                hold,
                lease_end: instant(self.lease_end),
                may_have_acted: self.may_have_acted,
                needs_operator: self.needs_operator,
            })),
            ("released", None) => Ok(Record::Released(hold)),
            ("succeeded", Some(expires)) => {
                self.finished(hold, Outcome::Succeeded, expires, archived)
            }
            ("failed", Some(expires)) => self.finished(hold, Outcome::Failed, expires, archived),
            _ => Err(inconsistent("state and expiry")),
        }
    }

    fn finished(
        &self,
        hold: Hold,
        outcome: Outcome,
        expires: OffsetDateTime,
        archived: bool,
    ) -> Result<Record, Error> {
        let archive = match (self.archive_day, archived) {
            (None, _) => Archive::NotKept,
            (Some(_), true) => Archive::Kept,
            (Some(_), false) => Archive::Gone,
        };
        let fingerprint = self.fingerprint()?;
        let expires = instant(expires);
        Ok(Record::Finished(Finished {
            fingerprint,
            hold,
            outcome,
            expires,
            archive,
        }))
    }

    pub(super) fn fingerprint(&self) -> Result<Fingerprint, Error> {
        let digest = self.fingerprint.as_slice().try_into();
        let digest = digest.map_err(|_| inconsistent("fingerprint"))?;
        let version = u8::try_from(self.fingerprint_version);
        let version = version.map_err(|_| inconsistent("fingerprint_version"))?;
        Ok(Fingerprint { version, digest })
    }
}

pub(super) fn inconsistent(what: &'static str) -> Error {
    Error::Inconsistent {
        table: "idempotency_records",
        what,
    }
}
