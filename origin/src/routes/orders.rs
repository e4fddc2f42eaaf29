//! `GET /orders/{id}`: the order as it is now.

use crate::{App, Error, operations::orders::view};
use axum::{
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use protocol::problem::{Kind, Problem};

pub(super) async fn show(
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<Response, Error> {
    let order = app.engine.store.order(&id).await?;
    let order = order.ok_or_else(|| Problem::new(Kind::NotFound, "There is no such order."))?;
    let headers = [
        (CONTENT_TYPE, "application/json"),
        (CACHE_CONTROL, "no-store"),
    ];
    Ok((headers, view(&order)).into_response())
}
