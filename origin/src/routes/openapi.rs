//! `/openapi.json`: the reference API, described for programs (`OpenAPI` 3.1).

use axum::response::IntoResponse;
use http::header::CONTENT_TYPE;

/// Written by hand; the tests hold it against what the service does.
const DOCUMENT: &str = include_str!("../../openapi.json");

pub(super) async fn show() -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], DOCUMENT)
}
