//! Orders: their finishing statement, and reading them.

use super::{
    Error, Event, Store,
    finish::{Finished, Hand, bind_hand, bind_response, finished},
};
use protocol::response::Response;
use sqlx::{FromRow, Row, types::Json};
use std::sync::Arc;
use time::OffsetDateTime;

/// Whether this constraint says that the effect is there already: one command never makes two
/// orders, tells of one twice, is answered twice or refunded twice. Which of them speaks first is
/// Postgres's choice.
pub(super) fn is_one_effect(constraint: &str) -> bool {
    const ONCE: [&str; 4] = [
        "orders_scope_generation_key",
        "orders_pkey",
        "outbox_event_id_key",
        "refunds_pkey",
    ];
    ONCE.contains(&constraint) || constraint.starts_with("archived_responses_")
}

/// A charged order that is about to be placed, with both answers it can have.
#[derive(Debug)]
pub struct Placement {
    /// The order.
    pub order: Order,
    /// Pieces by SKU, each SKU once, in the order of the SKUs.
    pub pieces: Vec<(String, i64)>,
    /// What is published when it is placed.
    pub events: Vec<Event>,
    /// The answer when it is placed.
    pub placed: Arc<Response>,
    /// The answer when a piece is sold out.
    pub sold_out: Arc<Response>,
}

/// A row of `orders`.
#[derive(Debug, Clone, FromRow)]
pub struct Order {
    /// `ord_…`.
    pub id: String,
    /// Minor units.
    pub amount: i64,
    /// ISO 4217.
    pub currency: String,
    /// Who is paid.
    pub destination: String,
    /// As JSON text.
    pub items: Json<Box<serde_json::value::RawValue>>,
    /// As JSON text.
    pub metadata: Option<Json<Box<serde_json::value::RawValue>>>,
    /// The provider's charge.
    pub charge_id: String,
    /// When it was made.
    pub created_at: OffsetDateTime,
}

/// Everything in one round trip. The record is locked first, so that a zombie takes no stock; stock
/// is locked in the order of the SKUs (no deadlock); all or nothing is placed.
const FINISH_ORDER: &str = "
    WITH clock AS MATERIALIZED (
        SELECT clock_timestamp() + $5 * interval '1 microsecond' AS expires,
               clock_timestamp() AS now),
    record AS MATERIALIZED (
        SELECT scope, generation FROM idempotency_records
        WHERE scope = $1 AND state = 'pending' AND generation = $2 AND fence = $3 AND owner = $4
        FOR UPDATE),
    wanted AS MATERIALIZED (
        SELECT sku, quantity FROM unnest($11::text[], $12::bigint[]) AS w (sku, quantity)),
    stock AS MATERIALIZED (
        SELECT i.sku FROM inventory i JOIN wanted w ON w.sku = i.sku
        WHERE i.stock >= w.quantity AND EXISTS (SELECT FROM record)
        ORDER BY i.sku FOR UPDATE OF i),
    enough AS MATERIALIZED (
        SELECT scope, generation FROM record
        WHERE (SELECT count(*) FROM stock) = (SELECT count(*) FROM wanted)),
    taken AS (
        UPDATE inventory i SET stock = i.stock - w.quantity
        FROM wanted w, enough WHERE i.sku = w.sku),
    finished AS (
        UPDATE idempotency_records r SET
            state = 'succeeded', finished_at = clock.now, expires_at = clock.expires,
            archive_day = CASE WHEN $6 THEN (clock.expires AT TIME ZONE 'UTC')::date END,
            location = $7, request_headers = NULL, request_body = NULL, needs_operator = false
        FROM clock, enough
        WHERE r.scope = $1 AND r.state = 'pending'
          AND r.generation = $2 AND r.fence = $3 AND r.owner = $4
        RETURNING r.scope, r.generation, r.expires_at, r.archive_day),
    archived AS (
        INSERT INTO archived_responses (expires_day, scope, generation, status, headers, body)
        SELECT archive_day, scope, generation, $8, $9, $10
        FROM finished WHERE archive_day IS NOT NULL),
    placed AS (
        INSERT INTO orders (id, scope, generation, amount, currency, destination, items, metadata,
                            charge_id, created_at)
        SELECT $13, scope, generation, $14, $15, $16, $17::json, $18::json, $19, $20 FROM finished),
    events AS (
        INSERT INTO outbox (event_id, type, subject, data, created_at, next_attempt)
        SELECT e.event_id, e.type, $13, e.data::json, $20, clock.now
        FROM finished, clock, unnest($21::text[], $22::text[], $23::text[])
            WITH ORDINALITY AS e (event_id, type, data, n)
        ORDER BY e.n)
    SELECT EXISTS (SELECT FROM record) AS held, (SELECT expires_at FROM finished) AS expires_at";

/// The refusal and the refund's order, so that the decision is durable before its effect.
const FINISH_SOLD_OUT: &str = "
    WITH clock AS MATERIALIZED (
        SELECT clock_timestamp() + $5 * interval '1 microsecond' AS expires,
               clock_timestamp() AS now),
    finished AS (
        UPDATE idempotency_records SET
            state = 'failed', finished_at = clock.now, expires_at = clock.expires,
            archive_day = CASE WHEN $6 THEN (clock.expires AT TIME ZONE 'UTC')::date END,
            location = $7, request_headers = NULL, request_body = NULL, needs_operator = false
        FROM clock
        WHERE scope = $1 AND state = 'pending' AND generation = $2 AND fence = $3 AND owner = $4
        RETURNING scope, generation, expires_at, archive_day, finished_at),
    archived AS (
        INSERT INTO archived_responses (expires_day, scope, generation, status, headers, body)
        SELECT archive_day, scope, generation, $8, $9, $10
        FROM finished WHERE archive_day IS NOT NULL),
    refund AS (
        INSERT INTO refunds (scope, generation, charge_id, created_at, next_attempt)
        SELECT scope, generation, $11, finished_at, finished_at FROM finished)
    SELECT expires_at FROM finished";

impl Store {
    /// JSON goes as text: sqlx would send jsonb, which knows no `\u0000` and writes numbers anew (C30).
    pub(super) async fn finish_order(
        &self,
        hand: Hand,
        placement: &Placement,
    ) -> Result<Finished, Error> {
        let order = &placement.order;
        let (skus, quantities): (Vec<_>, Vec<_>) = placement.pieces.iter().cloned().unzip();
        let event = |part: fn(&Event) -> &str| -> Vec<String> {
            placement
                .events
                .iter()
                .map(|event| part(event).to_owned())
                .collect()
        };
        let query = bind_hand(sqlx::query(FINISH_ORDER), &hand);
        let row = bind_response(query, &hand, &placement.placed)
            .bind(skus)
            .bind(quantities)
            .bind(&order.id)
            .bind(order.amount)
            .bind(&order.currency)
            .bind(&order.destination)
            .bind(order.items.0.get())
            .bind(order.metadata.as_ref().map(|metadata| metadata.0.get()))
            .bind(&order.charge_id)
            .bind(order.created_at)
            .bind(event(|event| &event.id))
            .bind(event(|event| &event.r#type))
            .bind(event(|event| &event.data))
            .fetch_one(&self.pool)
            .await?;
        match (row.try_get("held")?, row.try_get("expires_at")?) {
            (false, _) => Err(Error::HoldLost),
            (true, Some(expires)) => Ok(hand.finished(&placement.placed, expires)),
            (true, None) => {
                fail::fail_point!("sold-out", |_| std::process::abort());
                self.finish_sold_out(hand, placement).await
            }
        }
    }

    async fn finish_sold_out(&self, hand: Hand, placement: &Placement) -> Result<Finished, Error> {
        let query = bind_hand(sqlx::query(FINISH_SOLD_OUT), &hand);
        let row = bind_response(query, &hand, &placement.sold_out)
            .bind(&placement.order.charge_id)
            .fetch_optional(&self.pool)
            .await?;
        finished(row.as_ref(), &hand, &placement.sold_out)
    }

    /// The order of this id.
    pub async fn order(&self, id: &str) -> Result<Option<Order>, Error> {
        let order = sqlx::query_as(
            "SELECT id, amount, currency, destination, items, metadata, charge_id, created_at
             FROM orders WHERE id = $1",
        )
        .bind(id)
        .fetch_optional(&self.pool)
        .await?;
        Ok(order)
    }

    /// Where the order of this scope and generation is, for ever.
    pub async fn order_location(
        &self,
        scope: &protocol::scope::Scope,
        generation: i32,
    ) -> Result<Option<String>, Error> {
        let order: Option<(String,)> =
            sqlx::query_as("SELECT id FROM orders WHERE scope = $1 AND generation = $2")
                .bind(scope.0.as_slice())
                .bind(generation)
                .fetch_optional(&self.pool)
                .await?;
        Ok(order.map(|(id,)| format!("/orders/{id}")))
    }

    /// Puts the development stock on the shelves, where it is not there yet.
    pub async fn seed_stock(&self, stock: &[(&str, i64)]) -> Result<(), Error> {
        for (sku, pieces) in stock {
            sqlx::query(
                "INSERT INTO inventory (sku, stock) VALUES ($1, $2) ON CONFLICT DO NOTHING",
            )
            .bind(sku)
            .bind(pieces)
            .execute(&self.pool)
            .await?;
        }
        Ok(())
    }
}
