//! The body of a protected request, read once into bounded bytes.

use crate::{digest, error::Error, incoming::Incoming};
use futures_util::TryStreamExt;
use protocol::{
    identity,
    policy::Route,
    problem::{Kind, Problem},
};
use worker::{
    js_sys::{Object, Uint8Array, futures::JsFuture},
    wasm_bindgen::JsCast,
};

/// The bytes twice: to hash in Wasm, and as the runtime's own buffer to forward without a copy.
pub(crate) struct Body {
    /// For the fingerprint and the digest.
    pub(crate) bytes: Vec<u8>,
    /// For the origin.
    pub(crate) buffer: Object,
    /// Of the bytes, when it was made for the fingerprint already.
    pub(crate) sha256: Option<[u8; 32]>,
}

impl Body {
    /// Reads the body. Over `body_max` it is refused, announced or not, and a body that ends before
    /// its announced length is refused too; both before any lock is taken (CASES C51).
    pub(crate) async fn read(request: &Incoming, route: &Route) -> Result<Self, Error> {
        let announced = request.header("content-length");
        let announced = announced.and_then(|length| length.parse().ok());
        match announced {
            Some(length) => {
                identity::body_size(route, length)?;
                Self::announced(request, length).await
            }
            None => Self::chunked(request, route).await,
        }
    }

    /// The digest that is signed.
    pub(crate) async fn sha256(&self) -> [u8; 32] {
        match self.sha256 {
            Some(digest) => digest,
            None => digest::sha256(&self.bytes).await,
        }
    }

    async fn announced(request: &Incoming, length: u64) -> Result<Self, Error> {
        let read = JsFuture::from(request.inner.array_buffer()?).await;
        let buffer: Object = read.map_err(|_| incomplete())?.unchecked_into();
        let bytes = Uint8Array::new(&buffer).to_vec();
        if bytes.len() as u64 != length {
            return Err(incomplete());
        }
        Ok(Self {
            bytes,
            buffer,
            sha256: None,
        })
    }

    async fn chunked(request: &Incoming, route: &Route) -> Result<Self, Error> {
        let mut bytes = Vec::new();
        if request.inner.body().is_some() {
            let mut chunks = worker::Request::from(Clone::clone(&request.inner)).stream()?;
            while let Some(chunk) = chunks.try_next().await.map_err(|_| incomplete())? {
                bytes.extend_from_slice(&chunk);
                identity::body_size(route, bytes.len() as u64)?;
            }
        }
        let buffer = Uint8Array::from(bytes.as_slice()).into();
        Ok(Self {
            bytes,
            buffer,
            sha256: None,
        })
    }
}

fn incomplete() -> Error {
    Problem::new(Kind::BodyIncomplete, "The body ended early; send it again.").into()
}
