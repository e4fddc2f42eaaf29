//! The relay: publishes the outbox at least once, in order per order, as CloudEvents in a POST
//! signed as Standard Webhooks says.

use super::{Turns, report};
use crate::{App, config::Webhook, idempotency::backoff, store, store::Unpublished};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use fail::fail_point;
use hmac::{Hmac, KeyInit, Mac};
use serde::Serialize;
use serde_json::value::RawValue;
use sha2::Sha256;
use std::time::Duration;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use tokio_util::sync::CancellationToken;

const PERIOD: Duration = Duration::from_millis(500);
const LEASE: Duration = Duration::from_mins(1);
const TIMEOUT: Duration = Duration::from_secs(15);
const RETRY_MAX: Duration = Duration::from_mins(5);
const AT_ONCE: i64 = 32;
/// After so many tries an event is dead, and its order's next one goes on.
const ATTEMPTS_MAX: i32 = 20;

/// Until stopped.
pub async fn run(app: App, webhook: Webhook, stop: CancellationToken) {
    let client = reqwest::Client::builder()
        .timeout(TIMEOUT)
        .build()
        .unwrap_or_default();
    let mut turns = Turns::new(PERIOD, stop);
    while turns.next().await {
        report("relay", run_until_empty(&app, &webhook, &client).await);
    }
}

/// An order's next event is due as soon as the one before is out.
async fn run_until_empty(
    app: &App,
    webhook: &Webhook,
    client: &reqwest::Client,
) -> Result<(), store::Error> {
    while run_once(app, webhook, client).await? > 0 {}
    Ok(())
}

/// Publishes what is due; gives back how many were tried.
pub async fn run_once(
    app: &App,
    webhook: &Webhook,
    client: &reqwest::Client,
) -> Result<usize, store::Error> {
    let store = &app.engine.store;
    let events = store.take_events(LEASE, AT_ONCE).await?;
    for event in &events {
        if publish(client, webhook, event).await {
            fail_point!("published", |_| std::process::abort());
            store.event_published(event.id).await?;
        } else {
            let again = event.attempts < ATTEMPTS_MAX;
            let retry_in = again.then(|| backoff(event.attempts, RETRY_MAX));
            store.event_failed(event.id, retry_in).await?;
        }
    }
    Ok(events.len())
}

async fn publish(client: &reqwest::Client, webhook: &Webhook, event: &Unpublished) -> bool {
    let body = cloud_event(event);
    let timestamp = OffsetDateTime::now_utc().unix_timestamp();
    let Some(signature) = sign(&webhook.secret, &event.event_id, timestamp, &body) else {
        return false;
    };
    let response = client
        .post(&webhook.url)
        .header("content-type", "application/cloudevents+json")
        .header("webhook-id", &event.event_id)
        .header("webhook-timestamp", timestamp.to_string())
        .header("webhook-signature", signature)
        .header("idempotency-key", &event.event_id)
        .body(body)
        .send()
        .await;
    response.is_ok_and(|response| response.status().is_success())
}

/// CloudEvents 1.0, structured mode.
#[derive(Serialize)]
struct CloudEvent<'a> {
    specversion: &'static str,
    id: &'a str,
    source: &'static str,
    r#type: &'a str,
    subject: &'a str,
    time: String,
    datacontenttype: &'static str,
    /// Passed on as it was written, every digit of it.
    data: Option<&'a RawValue>,
}

fn cloud_event(event: &Unpublished) -> String {
    let event = CloudEvent {
        specversion: "1.0",
        id: &event.event_id,
        source: "/orders",
        r#type: &event.r#type,
        subject: &event.subject,
        time: event.created_at.format(&Rfc3339).unwrap_or_default(),
        datacontenttype: "application/json",
        data: serde_json::from_str(&event.data).ok(),
    };
    // Strings and JSON that was parsed before: this always serialises.
    serde_json::to_string(&event).unwrap_or_default()
}

/// Standard Webhooks: `v1,` and the HMAC of id, timestamp and body.
fn sign(secret: &[u8], id: &str, timestamp: i64, body: &str) -> Option<String> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).ok()?;
    mac.update(format!("{id}.{timestamp}.{body}").as_bytes());
    Some(format!(
        "v1,{}",
        STANDARD.encode(mac.finalize().into_bytes())
    ))
}
