use super::*;
use axum::{Router, extract::State, http::StatusCode, routing::get};
use protocol::{
    jwt::{FETCHES_MAX, FRESH_SECONDS},
    problem::Kind,
};
use serde::Deserialize;
use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

const VECTORS: &str = include_str!("../../../protocol/vectors/jwt.json");

#[derive(Deserialize)]
struct Vectors {
    now: u64,
    secret: String,
    jwks: serde_json::Value,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    token: String,
    claim: Option<String>,
    issuer: Option<String>,
    audience: Option<String>,
    now: Option<u64>,
    principal: Option<serde_json::Value>,
}

impl Vectors {
    fn read() -> Self {
        serde_json::from_str(VECTORS).unwrap()
    }

    fn token(&self, name: &str) -> &str {
        &self
            .cases
            .iter()
            .find(|case| case.name == name)
            .unwrap()
            .token
    }

    /// The set with only these keys.
    fn set(&self, ids: &[&str]) -> String {
        let keys = self.jwks["keys"].as_array().unwrap().iter();
        let keys: Vec<_> = keys
            .filter(|key| ids.iter().any(|id| key["kid"] == *id))
            .collect();
        serde_json::json!({"keys": keys}).to_string()
    }
}

fn read(variables: &[(&str, &str)]) -> Result<Credentials, config::Error> {
    Credentials::read(|name| {
        let found = variables.iter().find(|(variable, _)| *variable == name);
        found.map(|(_, value)| (*value).to_owned())
    })
}

/// An issuer that counts how often its set is fetched.
struct Issuer {
    url: String,
    set: Arc<Mutex<Result<String, StatusCode>>>,
    fetches: Arc<AtomicUsize>,
}

type Shared = (Arc<Mutex<Result<String, StatusCode>>>, Arc<AtomicUsize>);

impl Issuer {
    async fn start(set: String) -> Self {
        let shared: Shared = (Arc::new(Mutex::new(Ok(set))), Arc::default());
        let answer = async |State((set, fetches)): State<Shared>| {
            fetches.fetch_add(1, Ordering::SeqCst);
            set.lock().unwrap().clone()
        };
        let router = Router::new()
            .route("/jwks", get(answer))
            .with_state(shared.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/jwks", listener.local_addr().unwrap());
        tokio::spawn(async { axum::serve(listener, router).await });
        Self {
            url,
            set: shared.0,
            fetches: shared.1,
        }
    }

    fn publish(&self, set: Result<String, StatusCode>) {
        *self.set.lock().unwrap() = set;
    }

    fn fetches(&self) -> usize {
        self.fetches.load(Ordering::SeqCst)
    }

    fn credentials(&self) -> Credentials {
        read(&[("JWT_JWKS_URL", &self.url)]).unwrap()
    }
}

/// The problem's kind, when the token is refused.
async fn refusal(credentials: &Credentials, token: &str, now: u64) -> Option<Kind> {
    credentials
        .principal(token, "sub", now)
        .await
        .err()
        .map(|problem| problem.kind)
}

#[tokio::test]
async fn every_token_of_the_vectors_has_its_outcome() {
    let vectors = Vectors::read();
    let file = std::env::temp_dir().join(format!("jwks-{}.json", std::process::id()));
    std::fs::write(&file, vectors.jwks.to_string()).unwrap();
    for case in &vectors.cases {
        let credentials = read(&[
            ("JWT_HS256_SECRET", &vectors.secret),
            ("JWT_JWKS_FILE", file.to_str().unwrap()),
            ("JWT_ISSUER", case.issuer.as_deref().unwrap_or_default()),
            ("JWT_AUDIENCE", case.audience.as_deref().unwrap_or_default()),
        ]);
        let (claim, now) = (
            case.claim.as_deref().unwrap_or("sub"),
            case.now.unwrap_or(vectors.now),
        );
        match (
            credentials
                .unwrap()
                .principal(&case.token, claim, now)
                .await,
            &case.principal,
        ) {
            (
                Ok(Principal::Subject {
                    issuer,
                    claim,
                    subject,
                }),
                Some(expected),
            ) => {
                let principal =
                    serde_json::json!({"issuer": issuer, "claim": claim, "subject": subject});
                assert_eq!(&principal, expected, "{}", case.name);
            }
            (Err(problem), None) => assert_eq!(problem.status(), 401, "{}", case.name),
            (outcome, _) => panic!("{}: {outcome:?}", case.name),
        }
    }
    std::fs::remove_file(file).unwrap();
}

#[tokio::test]
async fn a_key_that_appears_is_fetched_for_the_first_token_that_asks_for_it() {
    let vectors = Vectors::read();
    let issuer = Issuer::start(vectors.set(&["es"])).await;
    let credentials = issuer.credentials();
    assert_eq!(issuer.fetches(), 0);
    for _ in 0..3 {
        assert_eq!(
            refusal(&credentials, vectors.token("ES256 by es"), vectors.now).await,
            None
        );
    }
    assert_eq!(issuer.fetches(), 1);
    issuer.publish(Ok(vectors.set(&["es", "rs"])));
    assert_eq!(
        refusal(&credentials, vectors.token("RS256 by rs"), vectors.now).await,
        None
    );
    assert_eq!(issuer.fetches(), 2);
}

#[tokio::test]
async fn a_key_that_is_removed_signs_no_longer_than_a_set_is_fresh() {
    let vectors = Vectors::read();
    let issuer = Issuer::start(vectors.set(&["es"])).await;
    let credentials = issuer.credentials();
    let token = vectors.token("ES256 by es");
    assert_eq!(refusal(&credentials, token, vectors.now).await, None);
    issuer.publish(Ok(vectors.set(&["rs"])));
    assert_eq!(
        refusal(&credentials, token, vectors.now + FRESH_SECONDS - 1).await,
        None
    );
    let later = vectors.now + FRESH_SECONDS;
    assert_eq!(
        refusal(&credentials, token, later).await,
        Some(Kind::CredentialsInvalid)
    );
}

#[tokio::test]
async fn invented_kids_make_few_fetches() {
    let vectors = Vectors::read();
    let issuer = Issuer::start(vectors.set(&["es"])).await;
    let credentials = issuer.credentials();
    for _ in 0..50 {
        let refusal = refusal(&credentials, vectors.token("an unknown kid"), vectors.now).await;
        assert_eq!(refusal, Some(Kind::CredentialsInvalid));
    }
    assert_eq!(issuer.fetches(), FETCHES_MAX as usize);
    assert_eq!(
        refusal(&credentials, vectors.token("ES256 by es"), vectors.now).await,
        None
    );
}

#[tokio::test]
async fn tokens_that_arrive_together_share_one_fetch() {
    let vectors = Arc::new(Vectors::read());
    let issuer = Issuer::start(vectors.set(&["es"])).await;
    let credentials = Arc::new(issuer.credentials());
    let ask = |_| {
        let (vectors, credentials) = (Arc::clone(&vectors), Arc::clone(&credentials));
        let token =
            async move { refusal(&credentials, vectors.token("ES256 by es"), vectors.now).await };
        tokio::spawn(token)
    };
    let all: Vec<_> = (0..20).map(ask).collect();
    for one in all {
        assert_eq!(one.await.unwrap(), None);
    }
    assert_eq!(issuer.fetches(), 1);
}

#[tokio::test]
async fn an_issuer_that_fails_is_503_and_leaves_the_keys_that_are_known() {
    let vectors = Vectors::read();
    let issuer = Issuer::start(vectors.set(&["es"])).await;
    let credentials = issuer.credentials();
    let (known, unknown) = (vectors.token("ES256 by es"), vectors.token("RS256 by rs"));
    issuer.publish(Err(StatusCode::INTERNAL_SERVER_ERROR));
    assert_eq!(
        refusal(&credentials, known, vectors.now).await,
        Some(Kind::OriginUnavailable)
    );
    issuer.publish(Ok(vectors.set(&["es"])));
    assert_eq!(refusal(&credentials, known, vectors.now).await, None);
    for wrong in ["not a set".to_owned(), "x".repeat(300_000)] {
        issuer.publish(Ok(wrong));
        assert_eq!(
            refusal(&credentials, unknown, vectors.now).await,
            Some(Kind::OriginUnavailable)
        );
        assert_eq!(
            refusal(&credentials, known, vectors.now + FRESH_SECONDS).await,
            None
        );
    }
}

#[tokio::test]
async fn without_keys_every_token_is_401() {
    let vectors = Vectors::read();
    let credentials = read(&[]).unwrap();
    for case in &vectors.cases {
        let refusal = refusal(&credentials, &case.token, vectors.now).await;
        assert_eq!(refusal, Some(Kind::CredentialsInvalid), "{}", case.name);
    }
}

#[test]
fn a_refusal_names_the_variable_and_hides_its_value() {
    let table = [
        (
            ("JWT_HS256_SECRET", "short"),
            "JWT_HS256_SECRET is wrong: the secret is shorter than 16 bytes",
        ),
        (("JWT_JWKS_URL", "issuer"), "JWT_JWKS_URL is no URL"),
    ];
    for (variable, message) in table {
        assert_eq!(read(&[variable]).unwrap_err().to_string(), message);
    }
    let both = [
        ("JWT_JWKS_URL", "http://issuer"),
        ("JWT_JWKS_FILE", "jwks.json"),
    ];
    assert_eq!(
        read(&both).unwrap_err().to_string(),
        "JWT_JWKS_URL is set beside JWT_JWKS_FILE"
    );
    let absent = read(&[("JWT_JWKS_FILE", "/absent/jwks.json")])
        .unwrap_err()
        .to_string();
    assert!(
        absent.starts_with("JWT_JWKS_FILE can't be read: "),
        "{absent}"
    );
}
