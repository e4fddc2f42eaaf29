//! Whatever the token, its header, its claims or the key set is: no panic, nothing is taken that
//! the secret did not sign, and what is taken names a subject.
#![no_main]

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use libfuzzer_sys::fuzz_target;
use protocol::{
    jwt::{Expected, Keys, Signed, Token, Verified},
    principal::Principal,
};
use sha2::Sha256;

const SECRET: &[u8] = b"a secret that the input does not know";

/// The token, when the secret has signed it.
fn verified(token: &str) -> Option<Verified> {
    let keys = Keys::from_secret(SECRET.to_vec()).unwrap();
    match Token::parse(token).ok()?.signed_by(&keys).ok()? {
        Signed::Verified(verified) => Some(verified),
        Signed::Unverified(_) => unreachable!("there is no public key"),
    }
}

fn signed(header: &[u8], claims: &[u8]) -> String {
    let part = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    let message = format!("{}.{}", part(header), part(claims));
    let mac = Hmac::<Sha256>::new_from_slice(SECRET).unwrap();
    let mac = mac.chain_update(&message).finalize().into_bytes();
    format!("{message}.{}", part(&mac))
}

fn assert_sound(token: &Verified) {
    let principal = token.principal(&Expected::default(), "sub", 1_800_000_000);
    if let Ok(principal) = principal {
        assert!(matches!(principal, Principal::Subject { subject, .. } if !subject.is_empty()));
    }
}

fuzz_target!(|input: &[u8]| {
    if let Ok(text) = std::str::from_utf8(input) {
        assert!(verified(text).is_none());
        if let Ok(keys) = Keys::from_jwks(text) {
            let _ = Token::parse("e30.e30.AA").map(|token| token.signed_by(&keys).is_ok());
        }
    }
    let middle = input
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(input.len());
    let (header, claims) = input.split_at(middle);
    let plain = verified(&signed(br#"{"alg":"HS256"}"#, input));
    let whole = verified(&signed(header, claims.get(1..).unwrap_or_default()));
    [plain, whole].iter().flatten().for_each(assert_sound);
});
