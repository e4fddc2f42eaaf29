//! `principal` and `ignore_credentials`.

use crate::policy::{
    PrincipalRule,
    file::{
        fault::{Fault, Wrong},
        table::Table,
        value::{flag, header_name, text},
    },
};
use toml::de::DeValue;

const FORMS: &str = r#""anonymous", "bearer-jwt", "bearer-jwt:<claim>" or "header:<name>""#;

pub(super) fn read(block: &mut Table<'_>) -> Result<(PrincipalRule, bool), Fault> {
    let principal = block.or("principal", PrincipalRule::Anonymous, rule)?;
    let fits = (
        principal == PrincipalRule::Anonymous,
        "has no meaning where credentials tell callers apart",
        r#"it only beside principal = "anonymous""#,
    );
    let ignore = block.take_if(fits, "ignore_credentials", flag)?;
    Ok((principal, ignore.is_some_and(|ignore| ignore.value)))
}

fn rule(value: &DeValue<'_>) -> Result<PrincipalRule, Wrong> {
    let text = text(value, FORMS)?;
    match text.split_once(':').unwrap_or((text, "")) {
        ("anonymous", "") => Ok(PrincipalRule::Anonymous),
        ("bearer-jwt", "") => Ok(PrincipalRule::BearerJwt {
            claim: "sub".to_owned(),
        }),
        ("bearer-jwt", claim) => Ok(PrincipalRule::BearerJwt {
            claim: claim.to_owned(),
        }),
        ("header", name) => match header_name::parse(name) {
            Ok(name) => Ok(PrincipalRule::Header(name)),
            Err(wrong) => Err(Wrong::new(wrong, r#""header:x-api-key" or "bearer-jwt""#)),
        },
        _ => Err(Wrong::new(format!("is \"{text}\""), FORMS)),
    }
}
