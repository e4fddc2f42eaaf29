//! The policy: what `policy.toml` says, validated, as both sides use it (DESIGN section 8).

#[cfg(feature = "policy-file")]
pub mod file;
mod path;

pub use path::PathPattern;

use crate::{
    canonical::{Pointer, Selection},
    record::AfterRetention,
};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The built-in operations, by the names that policy gives them.
#[cfg(not(feature = "bench"))]
pub const OPERATIONS: [&str; 1] = ["orders"];
/// The built-in operations, and the one that only benchmarks have.
#[cfg(feature = "bench")]
pub const OPERATIONS: [&str; 2] = ["orders", "insert"];

/// All routes and what holds for the whole service.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// Protected routes; no two match one request.
    pub routes: Vec<Route>,
    /// `[cors] allow_origins`: origins of browser clients, or `*`.
    pub cors_allow_origins: Vec<String>,
}

/// One `[[route]]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Route {
    /// `POST` or `PATCH`.
    pub method: String,
    /// Literal segments or `{name}`.
    pub path: PathPattern,
    /// What runs.
    pub target: Target,
    /// Where the key comes from.
    pub key: KeyRule,
    /// Who is asking.
    pub principal: PrincipalRule,
    /// Whether one key names one operation of the principal, or one on each route.
    pub scope: ScopeRule,
    /// Which parts of a JSON body make the command.
    pub selection: Selection,
    /// Headers that are part of the command, lower case.
    pub fingerprint_headers: Vec<String>,
    /// The longest that an operation may run.
    pub lock_ttl: Duration,
    /// How long an answer is replayed, from its finish.
    pub retention: Duration,
    /// A retry after retention.
    pub after_retention: AfterRetention,
    /// How long tombstones are kept; `None` is for ever.
    pub tombstones_for: Option<Duration>,
    /// The longest that `Prefer: wait` waits.
    pub wait_max: Duration,
    /// The largest body, in bytes, inclusive.
    pub body_max: usize,
    /// The largest response that is archived, in bytes, inclusive.
    pub response_max: usize,
    /// Upstream statuses that are definitive, unless [`Self::release`] names them too.
    pub archive: Vec<StatusRange>,
    /// Upstream statuses that mean that nothing happened.
    pub release: Vec<StatusRange>,
    /// What follows an unknown outcome.
    pub on_unknown: OnUnknown,
    /// Template asked by [`OnUnknown::Ask`].
    pub status_url: Option<String>,
    /// Which key an upstream gets.
    pub upstream_key: UpstreamKey,
    /// The longest that an upstream may take to begin its answer; `lock_ttl` bounds all of it.
    pub first_byte_timeout: Duration,
    /// How long an edge may replay without asking; zero is off.
    pub edge_replay: Duration,
    /// What the edge does without its lock.
    pub on_lock_failure: OnLockFailure,
    /// Whether credentials are ignored where the principal is anonymous.
    pub ignore_credentials: bool,
}

/// What a route runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// A built-in operation, by name.
    Operation(String),
    /// Any HTTP service, by base URL.
    Upstream(String),
}

/// Where the key comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyRule {
    /// The header; 400 without it.
    Required,
    /// The header; no protection without it.
    Optional,
    /// The header, or else these fields of the body (JSON pointers).
    Derived(Vec<Pointer>),
}

/// Who is asking.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PrincipalRule {
    /// Nobody is told apart.
    Anonymous,
    /// A verified token; this claim names the subject.
    BearerJwt {
        /// `sub` by default.
        claim: String,
    },
    /// A stable API key in this header (lower case).
    Header(String),
}

/// What a key is unique in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScopeRule {
    /// The principal.
    #[default]
    Principal,
    /// The principal and the route.
    Route,
}

/// Inclusive range of statuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusRange {
    /// First.
    pub from: u16,
    /// Last.
    pub to: u16,
    /// Whether only answers with a `Retry-After` are meant.
    pub with_retry_after: bool,
}

impl StatusRange {
    /// Whether an answer of this status is meant.
    pub fn includes(self, status: u16, has_retry_after: bool) -> bool {
        (self.from..=self.to).contains(&status) && (has_retry_after || !self.with_retry_after)
    }
}

/// What follows an unknown outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnUnknown {
    /// The completer sends again: the upstream honours the key.
    Resend,
    /// The completer asks `status_url`.
    Ask,
    /// An operator decides.
    #[default]
    Hold,
}

/// Which key an upstream gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UpstreamKey {
    /// One derived from scope and generation.
    #[default]
    Child,
    /// The client's own.
    Client,
}

/// What the edge does when its lock can't be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnLockFailure {
    /// Goes to the origin, which decides in any case.
    #[default]
    Origin,
    /// 503.
    Refuse,
}

impl Policy {
    /// The protected route of a request, if any. The method is matched as sent: HTTP methods are
    /// case-sensitive (RFC 9110 section 9.1).
    pub fn route(&self, method: &str, path: &str) -> Option<&Route> {
        self.routes.iter().find(|route| route.matches(method, path))
    }
}

impl Route {
    /// Whether a request is for this route.
    pub fn matches(&self, method: &str, path: &str) -> bool {
        self.method == method && self.path.matches(path)
    }

    /// Whether an unknown outcome is an operator's to settle, and nothing is sent again.
    pub fn waits_for_operator(&self) -> bool {
        matches!(self.target, Target::Upstream(_)) && self.on_unknown == OnUnknown::Hold
    }

    /// `POST /orders`, as in `match`.
    pub fn name(&self) -> String {
        format!("{} {}", self.method, self.path.as_str())
    }
}
