//! `POST /canonical?include=…&exclude=…`: the canonical text of the body, as a vector writes it.

use protocol::{
    canonical::{CanonicalError, Selection, digest, text},
    wire::hex,
};
use serde::Serialize;
use worker::{Error, Request, Response, Result};

/// The members of a vector that say what comes out.
#[derive(Serialize)]
#[serde(untagged)]
enum Outcome {
    Accepted { canonical: String, sha256: String },
    Refused { error: &'static str, offset: usize },
}

pub(crate) async fn answer(request: &mut Request) -> Result<Response> {
    let selection = selection(request)?;
    let body = request.bytes().await?;
    let outcome = match accepted(&body, &selection) {
        Ok(accepted) => accepted,
        Err(CanonicalError { kind, offset }) => Outcome::Refused {
            error: kind.name(),
            offset,
        },
    };
    Response::from_json(&outcome)
}

/// Each pointer is a parameter of its own.
fn selection(request: &Request) -> Result<Selection> {
    let url = request.url()?;
    let all = |name| -> Vec<String> {
        let named = url.query_pairs().filter(|(parameter, _)| parameter == name);
        named.map(|(_, pointer)| pointer.into_owned()).collect()
    };
    let selection = Selection::new(&all("include"), &all("exclude"));
    selection.map_err(|error| Error::RustError(error.to_string()))
}

fn accepted(body: &[u8], selection: &Selection) -> std::result::Result<Outcome, CanonicalError> {
    let text = text(body, selection)?;
    Ok(Outcome::Accepted {
        canonical: String::from_utf8_lossy(&text).into_owned(),
        sha256: hex::encode(&digest(body, selection)?),
    })
}
