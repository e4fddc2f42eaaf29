//! How long things last: `lock_ttl`, `wait_max`, `retention`, `after_retention`,
//! `tombstones_for` and `edge_replay`.

use crate::{
    policy::{
        Target,
        file::{
            fault::{Fault, Wrong},
            table::{Setting, Table},
            value::{
                choice,
                units::{LOCK_TTL_MAX, RETENTION_MAX, duration, duration_text},
            },
        },
    },
    record::AfterRetention,
};
use std::time::Duration;
use toml::de::DeValue;

const SECOND: Duration = Duration::from_secs(1);
const LOCK_TTL: Duration = Duration::from_mins(10);
const WAIT_MAX: Duration = Duration::from_secs(30);
const RETENTION: Duration = Duration::from_hours(24);
const EDGE_REPLAY: Duration = Duration::from_mins(1);
const AFTER_RETENTION: [(&str, AfterRetention); 2] = [
    ("gone", AfterRetention::Gone),
    ("execute", AfterRetention::Execute),
];

pub(super) struct Lifetime {
    pub(super) lock_ttl: Duration,
    pub(super) wait_max: Duration,
    pub(super) retention: Duration,
    pub(super) after_retention: AfterRetention,
    pub(super) tombstones_for: Option<Duration>,
    pub(super) edge_replay: Duration,
}

pub(super) fn read(block: &mut Table<'_>, target: &Target) -> Result<Lifetime, Fault> {
    let lock_ttl = block.or("lock_ttl", LOCK_TTL, |value| {
        duration(value, SECOND..=LOCK_TTL_MAX)
    })?;
    let retention = block.or("retention", RETENTION, |value| {
        duration(value, SECOND..=RETENTION_MAX)
    })?;
    let wait_max = block.take("wait_max", |value| {
        duration(value, Duration::ZERO..=LOCK_TTL_MAX)
    })?;
    let edge_replay = block.take("edge_replay", off_or_duration)?;
    Ok(Lifetime {
        lock_ttl,
        retention,
        wait_max: within(wait_max, WAIT_MAX, ("wait_max", "lock_ttl", lock_ttl))?,
        edge_replay: within(
            edge_replay,
            EDGE_REPLAY,
            ("edge_replay", "retention", retention),
        )?,
        after_retention: block.or("after_retention", AfterRetention::default(), |value| {
            choice(value, &AFTER_RETENTION)
        })?,
        tombstones_for: tombstones(block, target, retention)?,
    })
}

/// A duration that another one bounds; only our own default gives way to it.
fn within(
    setting: Option<Setting<Duration>>,
    default: Duration,
    (name, bound, max): (&str, &str, Duration),
) -> Result<Duration, Fault> {
    match setting {
        None => Ok(default.min(max)),
        Some(setting) if setting.value <= max => Ok(setting.value),
        Some(setting) => {
            let max = duration_text(max);
            let wrong = format!("is longer than {bound}, which is {max}");
            Err(Wrong::new(wrong, format!("\"{max}\" or shorter")).of(name, setting.at))
        }
    }
}

fn off_or_duration(value: &DeValue<'_>) -> Result<Duration, Wrong> {
    match value.as_str() {
        Some("off") => Ok(Duration::ZERO),
        _ => match duration(value, Duration::ZERO..=RETENTION_MAX)? {
            short if short < SECOND => {
                let instead = r#""off" or "1s" or longer"#;
                Err(Wrong::new("is shorter than 1s", instead))
            }
            duration => Ok(duration),
        },
    }
}

/// `None` is for ever. Orders are unique for ever, so their tombstones have no end.
fn tombstones(
    block: &mut Table<'_>,
    target: &Target,
    retention: Duration,
) -> Result<Option<Duration>, Fault> {
    const NAME: &str = "tombstones_for";
    let setting = block.take(NAME, |value| match value.as_str() {
        Some("forever") => Ok(None),
        _ => duration(value, SECOND..=Duration::MAX).map(Some),
    })?;
    let Some(Setting {
        at,
        value: Some(kept),
        inherited,
    }) = setting
    else {
        return Ok(None);
    };
    if matches!(target, Target::Operation(_)) {
        let wrong = "has an end, and a built-in operation is done once for ever";
        return if inherited {
            Ok(None)
        } else {
            Err(Wrong::new(wrong, "\"forever\"").of(NAME, at))
        };
    }
    if kept < retention {
        let retention = duration_text(retention);
        let wrong = format!("is shorter than retention, which is {retention}");
        return Err(Wrong::new(wrong, format!("\"{retention}\" or longer")).of(NAME, at));
    }
    Ok(Some(kept))
}
