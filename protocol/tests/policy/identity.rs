//! Keys, principals and fingerprints.

use crate::{ORDERS, assert_refused, assert_refused_below};

#[test]
fn keys() {
    let choice = r#"write key = "required" or "optional" or "derived""#;
    let beside = r#"write key = "derived" beside it"#;
    let example = r#"write derive = ["/merchantReference"]"#;
    assert_refused_below(
        ORDERS,
        &[
            ("key = 'always'", &format!("key is \"always\"; {choice}")),
            ("key = ''", &format!("key is empty; {choice}")),
            ("key = true", &format!("key is true or false; {choice}")),
            (
                "key = 'derived'",
                &format!("key is \"derived\", but derive names no field; {example} beside it"),
            ),
            (
                "derive = ['/id']",
                &format!("derive needs key = \"derived\"; {beside}"),
            ),
            (
                "derive = ['/id']\nkey = 'optional'",
                &format!("derive needs key = \"derived\"; {beside}"),
            ),
            (
                "derive = []\nkey = 'derived'",
                &format!("derive is empty; {example}"),
            ),
            ("derive = 'id'", &format!("derive is a text; {example}")),
            ("derive = [1]", &format!("derive is a number; {example}")),
            (
                "derive = ['id']",
                &format!("derive is refused: the JSON pointer `id` must start with `/`; {example}"),
            ),
            (
                "derive = ['/~2']",
                &format!(
                    "derive is refused: the JSON pointer `/~2` must write `~` as `~0` and `/` as `~1`; {example}"
                ),
            ),
            (
                "derive = ['/a', '/a']",
                "derive names one thing twice; write derive = each of them once",
            ),
        ],
    );
}

#[test]
fn an_element_is_refused_at_its_own_line() {
    let list = "derive = [\n'/a',\n'b',\n]";
    let message = "6: derive is refused: the JSON pointer `b` must start with `/`; write derive = [\"/merchantReference\"]";
    assert_refused(&[(
        &format!("match = 'POST /a'\noperation = 'orders'\n{list}"),
        message,
    )]);
}

#[test]
fn principals() {
    let forms =
        r#"write principal = "anonymous", "bearer-jwt", "bearer-jwt:<claim>" or "header:<name>""#;
    let instead = r#"write principal = "header:x-api-key" or "bearer-jwt""#;
    assert_refused_below(
        ORDERS,
        &[
            (
                "principal = 'jwt'",
                &format!("principal is \"jwt\"; {forms}"),
            ),
            (
                "principal = 'anonymous:x'",
                &format!("principal is \"anonymous:x\"; {forms}"),
            ),
            (
                "principal = 'header:'",
                &format!("principal names \"\", which is no header; {instead}"),
            ),
            (
                "principal = 'header:a b'",
                &format!("principal names \"a b\", which is no header; {instead}"),
            ),
            (
                "principal = 'header:Authorization'",
                &format!("principal names authorization, which changes between retries; {instead}"),
            ),
            (
                "principal = 'header:cookie'",
                &format!("principal names cookie, which changes between retries; {instead}"),
            ),
            (
                "principal = 'header:Idempotency-Key'",
                &format!("principal names idempotency-key, which is the key itself; {instead}"),
            ),
            (
                "principal = 'header:unavez-x'",
                &format!(
                    "principal names unavez-x, which only Unavez's own parts may send; {instead}"
                ),
            ),
            (
                "ignore_credentials = 'yes'",
                "ignore_credentials is a text; write ignore_credentials = true or false",
            ),
            (
                "ignore_credentials = true\nprincipal = 'bearer-jwt'",
                "ignore_credentials has no meaning where credentials tell callers apart; write it only beside principal = \"anonymous\"",
            ),
            (
                "scope = 'global'",
                "scope is \"global\"; write scope = \"principal\" or \"route\"",
            ),
        ],
    );
}

#[test]
fn fingerprints() {
    let inside = "write fingerprint.exclude = only places inside what is included";
    let headers = r#"write fingerprint.headers = ["accept-language"]"#;
    assert_refused_below(
        ORDERS,
        &[
            (
                "fingerprint = []",
                "fingerprint is a list; write a table [fingerprint]",
            ),
            (
                "fingerprint.exclude = ['']",
                "fingerprint.exclude excludes the whole body; write fingerprint.exclude = [\"/sent_at\"]",
            ),
            (
                "fingerprint = { include = ['/a/b'], exclude = ['/a'] }",
                &format!(
                    "fingerprint.exclude takes away /a/b, which fingerprint.include names; {inside}"
                ),
            ),
            (
                "fingerprint = { include = ['/a'], exclude = ['/a'] }",
                &format!(
                    "fingerprint.exclude takes away /a, which fingerprint.include names; {inside}"
                ),
            ),
            (
                "fingerprint = { include = ['/a'], exclude = ['/b'] }",
                &format!(
                    "fingerprint.exclude takes away /b, which is not included anyway; {inside}"
                ),
            ),
            (
                "fingerprint.headers = ['Content-Type']",
                &format!(
                    "fingerprint.headers names content-type, which is always part of the fingerprint; {headers}"
                ),
            ),
            (
                "fingerprint.headers = ['host']",
                &format!("fingerprint.headers names host, which belongs to the hop; {headers}"),
            ),
            (
                "fingerprint.headers = ['Date']",
                &format!(
                    "fingerprint.headers names date, which changes between retries; {headers}"
                ),
            ),
            (
                "fingerprint.headers = ['X-A', 'x-a']",
                "fingerprint.headers names one thing twice; write fingerprint.headers = each of them once",
            ),
        ],
    );
}
