//! The plain service that stands beside the origin, or in its place behind an edge.

use axum::response::IntoResponse;
use axum::{
    Router,
    routing::{get, post},
};
use bytes::Bytes;
use http::StatusCode;
use xtask::failure::{Failure, Result};

/// What an origin says of an order, at once.
async fn created(_: Bytes) -> impl IntoResponse {
    let headers = [
        ("unavez-archive", "max-age=60"),
        ("idempotent-replayed", "false"),
        ("location", "/orders/1"),
        ("content-type", "application/json"),
    ];
    (
        StatusCode::CREATED,
        headers,
        r#"{"id":"1","status":"paid"}"#,
    )
}

/// Serves at `BIND` until it is ended.
pub(crate) async fn serve() -> Result<()> {
    let bind = std::env::var("BIND").map_err(Failure::because("BIND is not set"))?;
    let listener = tokio::net::TcpListener::bind(&bind)
        .await
        .map_err(Failure::because(format!(
            "BIND {bind} can't be listened on"
        )))?;
    let app = Router::new()
        .route("/readyz", get(async || StatusCode::OK))
        .route("/", post(created))
        .route("/orders", post(created))
        .fallback(post(async |body: Bytes| body));
    axum::serve(listener, app)
        .await
        .map_err(Failure::because("the echo ended"))
}
