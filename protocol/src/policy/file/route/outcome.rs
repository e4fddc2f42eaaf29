//! What an upstream's answers mean, and what follows where there is none: `archive`, `release`,
//! `on_unknown`, `status_url`, `upstream_key` and `first_byte_timeout`.

use crate::policy::{
    OnUnknown, StatusRange, Target, UpstreamKey,
    file::{
        fault::{Fault, Wrong},
        table::Table,
        value::{
            choice, status,
            units::{LOCK_TTL_MAX, duration},
            url,
        },
    },
};
use std::time::Duration;

const FIRST_BYTE_TIMEOUT: Duration = Duration::from_mins(1);

const ON_UNKNOWN: [(&str, OnUnknown); 3] = [
    ("resend", OnUnknown::Resend),
    ("ask", OnUnknown::Ask),
    ("hold", OnUnknown::Hold),
];
const UPSTREAM_KEY: [(&str, UpstreamKey); 2] = [
    ("child", UpstreamKey::Child),
    ("client", UpstreamKey::Client),
];

pub(super) struct Outcomes {
    pub(super) archive: Vec<StatusRange>,
    pub(super) release: Vec<StatusRange>,
    pub(super) on_unknown: OnUnknown,
    pub(super) status_url: Option<String>,
    pub(super) upstream_key: UpstreamKey,
    pub(super) first_byte_timeout: Duration,
}

pub(super) fn read(block: &mut Table<'_>, target: &Target) -> Result<Outcomes, Fault> {
    let fits = (
        matches!(target, Target::Upstream(_)),
        "has no meaning for a built-in operation",
        "it only where the route has an upstream",
    );
    let archive = block.take_if(fits, "archive", status::list)?;
    let release = block.take_if(fits, "release", status::list)?;
    let upstream_key = block.take_if(fits, "upstream_key", |value| choice(value, &UPSTREAM_KEY))?;
    let first_byte = block.take_if(fits, "first_byte_timeout", |value| {
        duration(value, Duration::from_millis(1)..=LOCK_TTL_MAX)
    })?;
    let on_unknown = block.take_if(fits, "on_unknown", |value| choice(value, &ON_UNKNOWN))?;
    let asks = on_unknown
        .as_ref()
        .is_some_and(|setting| setting.value == OnUnknown::Ask);
    let fits = (
        asks,
        r#"needs on_unknown = "ask""#,
        r#"on_unknown = "ask" beside it"#,
    );
    let status_url = block.take_if(fits, "status_url", url::status)?;
    if let (true, None, Some(on_unknown)) = (asks, &status_url, &on_unknown) {
        let wrong = "on_unknown is \"ask\", but there is no status_url";
        let instead = r#"status_url = "http://backend:8080/operations/{key}" beside it"#;
        return Err(Wrong::new(wrong, instead).at(on_unknown.at));
    }
    Ok(Outcomes {
        archive: archive.map_or_else(status::archived_by_default, |setting| setting.value),
        release: release.map_or_else(status::released_by_default, |setting| setting.value),
        on_unknown: on_unknown.map(|setting| setting.value).unwrap_or_default(),
        status_url: status_url.map(|setting| setting.value),
        upstream_key: upstream_key
            .map(|setting| setting.value)
            .unwrap_or_default(),
        first_byte_timeout: first_byte.map_or(FIRST_BYTE_TIMEOUT, |setting| setting.value),
    })
}
