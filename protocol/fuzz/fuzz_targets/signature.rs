//! Whatever the fields are: no panic, what an edge signed holds, and nothing else does.
#![no_main]

use libfuzzer_sys::fuzz_target;
use protocol::wire::signature::{EdgeKeys, Signed};

const NOW: i64 = 1_800_000_000;

fuzz_target!(
    |input: (&str, &str, Option<&str>, Option<&str>, &str, &str)| {
        let (method, target, content_digest, idempotency_key, field, signature) = input;
        let parts = [
            method,
            target,
            content_digest.unwrap_or(""),
            idempotency_key.unwrap_or(""),
        ];
        let _ = EdgeKeys::parse(field);
        // Neither a method nor a field value holds a line break: HTTP has none there.
        if parts.iter().any(|part| part.contains(['\r', '\n'])) {
            return;
        }
        let keys = EdgeKeys::parse("a:dGhlIGlucHV0IGRvZXMgbm90IGtub3c=").unwrap();
        let request = Signed {
            method,
            target,
            content_digest,
            idempotency_key,
        };
        let (fields, mac) = keys.sign(&request, NOW).unwrap();
        assert_eq!(
            keys.verify(&request, Some(&fields), Some(&mac), NOW),
            Ok(())
        );
        assert!(
            keys.verify(&request, Some(field), Some(signature), NOW)
                .is_err()
        );
        assert!(
            keys.verify(&request, Some(&fields), Some(signature), NOW)
                .is_err()
        );
        let other = format!("{target}x");
        let other = Signed {
            target: &other,
            ..request
        };
        assert!(keys.verify(&other, Some(&fields), Some(&mac), NOW).is_err());
    }
);
