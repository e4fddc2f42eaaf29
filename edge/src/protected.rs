//! A protected request, up to its flight: the checks in their one order (DESIGN section 4).

use crate::{
    answer::Answer, body::Body, clock, digest, error::Error, flight::Flight, incoming::Incoming,
    lock::Lock, passage, replay_cache, rim::Rim, settings::Settings, wait::Wait,
};
use futures_channel::oneshot;
use protocol::{
    fingerprint::{Command, Fingerprint},
    identity::{self, Credentials, Identity, KeySource},
    policy::{PrincipalRule, Route},
    principal::Principal,
    wire,
};
use worker::{Context, Env, web_sys};

/// Answers a request of a route.
pub(crate) async fn answer(
    request: Incoming,
    route: &'static Route,
    settings: &'static Settings,
    mut rim: Rim,
    env: &Env,
    context: &Context,
) -> worker::Result<web_sys::Response> {
    let prefer = request.header("prefer");
    let wait = Wait::new(prefer.as_deref(), route.wait_max, clock::now());
    let key = request.header(wire::IDEMPOTENCY_KEY);
    let source = match identity::key(route, key.as_deref().map(str::as_bytes)) {
        Ok(KeySource::Unprotected) => return rim.leave(passage::pass(&request, settings).await),
        Ok(source) => source,
        Err(problem) => return rim.leave(Err(problem.into())),
    };
    let (body, principal, identity) = match known(&request, route, settings, &source).await {
        Ok(known) => known,
        Err(error) => return rim.leave(Err(error)),
    };
    rim.scope = Some(identity.scope);
    rim.applied = wait.applied();
    if let Some(replay) = replay_cache::find(&identity, clock::now()) {
        let applied = rim.applied.as_deref();
        let answer = replay.map_err(Error::from);
        return rim.leave(answer.and_then(|found| Answer::replay(&found, applied, "replayed")));
    }
    let lock = match Lock::new(
        env,
        settings,
        &request.continent(),
        &principal,
        &identity.scope,
    ) {
        Ok(lock) => lock,
        Err(error) => return rim.leave(Err(error)),
    };
    let flight = Flight {
        request,
        body,
        identity,
        route,
        settings,
        lock,
        wait,
    };
    let (answered, answer) = oneshot::channel();
    // All of it outlives the client: an operation that was sent is also landed (CASES C50).
    context.wait_until(flight.run(rim, answered));
    answer
        .await
        .unwrap_or_else(|_| Err(worker::Error::RustError("the flight was dropped".into())))
}

/// Size, principal and body: under which names the request is known.
async fn known(
    request: &Incoming,
    route: &Route,
    settings: &Settings,
    source: &KeySource,
) -> Result<(Body, Principal, Identity), Error> {
    let mut body = Body::read(request, route).await?;
    let read = headers(request, route);
    let value = |name: &str| {
        let found = read.iter().find(|(header, _)| *header == name);
        found.and_then(|(_, value)| value.as_deref().map(str::as_bytes))
    };
    let principal = principal(identity::credentials(route, value)?, settings).await?;
    let selected = route.fingerprint_headers.iter();
    let selected: Vec<_> = selected.map(|name| (name.as_str(), value(name))).collect();
    let content_type = request.header("content-type");
    let command = Command {
        method: &request.method,
        path: request.path(),
        query: request.query(),
        content_type: content_type.as_deref(),
        headers: &selected,
        body: &body.bytes,
    };
    let content = identity::content(route, &command)?;
    let digest = digest::sha256(content.bytes()).await;
    let fingerprint = Fingerprint::of(&command, &content, &digest);
    let identity = identity::identify_by(route, source, &principal, &command, fingerprint)?;
    // A canonical body is hashed once, for the fingerprint and for the signature.
    let is_all = content.is_all_of(&body.bytes);
    body.sha256 = is_all.then_some(digest);
    Ok((body, principal, identity))
}

/// The headers that tell callers and commands of this route apart.
fn headers<'r>(request: &Incoming, route: &'r Route) -> Vec<(&'r str, Option<String>)> {
    let principal = match &route.principal {
        PrincipalRule::Header(name) => name,
        PrincipalRule::Anonymous | PrincipalRule::BearerJwt { .. } => "authorization",
    };
    let selected = route.fingerprint_headers.iter().map(String::as_str);
    [principal]
        .into_iter()
        .chain(selected)
        .map(|name| (name, request.header(name)))
        .collect()
}

async fn principal(credentials: Credentials<'_>, settings: &Settings) -> Result<Principal, Error> {
    match credentials {
        Credentials::Known(principal) => Ok(principal),
        Credentials::Bearer { token, claim } => settings.credentials.principal(token, claim).await,
    }
}
