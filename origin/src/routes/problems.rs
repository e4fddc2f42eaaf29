//! `/problems/{slug}`: a page that explains each problem's type.

use crate::Error;
use axum::{extract::Path, response::Html};
use protocol::problem::{Kind, Problem};

pub(super) async fn show(Path(slug): Path<String>) -> Result<Html<String>, Error> {
    let kind = Kind::ALL.into_iter().find(|kind| kind.slug() == slug);
    let kind = kind.ok_or_else(|| Problem::new(Kind::NotFound, "There is no such problem."))?;
    Ok(Html(page(kind)))
}

/// All text is ours, so nothing needs escaping.
fn page(kind: Kind) -> String {
    let (title, status, explanation) = (kind.title(), kind.status(), kind.explanation());
    let retry = match (kind.is_retryable(), kind.keeps_key()) {
        (true, _) => "Retry the same request with the same key.",
        (false, true) => "Correct the request and send it with the same key.",
        (false, false) => "Do not retry this request as it is.",
    };
    format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title>\n\
         <h1>{title}</h1>\n<p>Status {status}. {explanation}</p>\n<p>{retry}</p>\n</html>\n"
    )
}
