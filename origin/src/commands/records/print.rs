//! Records as a table, or as JSON. The bytes of requests and answers are not shown.

use crate::Failure;
use origin::store::{Change, Summary};
use protocol::{response::Response, wire::hex};
use serde_json::{Value, json};
use std::io::Write;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

pub(super) fn list(found: &[Summary], as_json: bool) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    if as_json {
        let records: Vec<_> = found.iter().map(record).collect();
        return write(&mut out, &records.into());
    }
    let head = "SCOPE STATE ATTEMPTS FIRST-SEEN CALLER KEY REQUEST LOCATION";
    let head: Vec<_> = head.split(' ').map(str::to_owned).collect();
    for cells in [head].into_iter().chain(found.iter().map(cells)) {
        writeln!(out, "{}", line(&cells))?;
    }
    Ok(())
}

fn cells(record: &Summary) -> Vec<String> {
    let mark = if record.needs_operator { " (!)" } else { "" };
    vec![
        digits(&record.scope.0, 8),
        format!("{}{mark}", record.state),
        record.attempts.to_string(),
        instant(record.first_seen),
        digits(&record.principal, 4),
        digits(&record.key_hash, 4),
        format!("{} {}", record.method, record.path),
        record.location.clone().unwrap_or_default(),
    ]
}

/// Cells in their columns.
fn line(cells: &[String]) -> String {
    const WIDTHS: [usize; 8] = [16, 11, 8, 27, 8, 8, 24, 0];
    let columns = cells.iter().zip(WIDTHS);
    let columns: Vec<_> = columns
        .map(|(cell, width)| format!("{cell:<width$}"))
        .collect();
    columns.join("  ").trim_end().to_owned()
}

pub(super) fn show(
    found: &Summary,
    archived: Option<&Response>,
    changes: &[Change],
    as_json: bool,
) -> Result<(), Failure> {
    let mut value = record(found);
    value["archived"] = archived.map_or(Value::Null, answer);
    value["changes"] = changes.iter().map(change).collect();
    let mut out = std::io::stdout().lock();
    if as_json {
        return write(&mut out, &value);
    }
    for (name, value) in value.as_object().into_iter().flatten() {
        match value {
            Value::String(text) => writeln!(out, "{name}: {text}")?,
            value => writeln!(out, "{name}: {value}")?,
        }
    }
    Ok(())
}

fn record(found: &Summary) -> Value {
    json!({
        "scope": hex::encode(&found.scope.0),
        "state": found.state,
        "needs_operator": found.needs_operator,
        "generation": found.hold.generation,
        "fence": found.hold.fence,
        "attempts": found.attempts,
        "principal": hex::encode(&found.principal),
        "key_hash": hex::encode(&found.key_hash),
        "method": found.method,
        "path": found.path,
        "first_seen": instant(found.first_seen),
        "lease_end": instant(found.lease_end),
        "expires": found.expires.map(instant),
        "location": found.location,
    })
}

fn answer(archived: &Response) -> Value {
    let headers = archived.headers.iter();
    let headers: Vec<_> = headers
        .map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value)))
        .collect();
    json!({"status": archived.status, "headers": headers, "body_bytes": archived.body.len()})
}

fn change(change: &Change) -> Value {
    json!({
        "changed_at": instant(change.changed_at),
        "operator": change.operator,
        "action": change.action,
        "state": change.state,
        "note": change.note,
    })
}

fn write(out: &mut impl Write, value: &Value) -> Result<(), Failure> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    writeln!(out)?;
    Ok(())
}

fn instant(time: OffsetDateTime) -> String {
    time.format(&Rfc3339).unwrap_or_default()
}

/// The first bytes in hexadecimal digits.
fn digits(bytes: &[u8], count: usize) -> String {
    hex::encode(bytes.get(..count).unwrap_or(bytes))
}
