//! Whatever the text is: no panic, one line about what is wrong with it, or a policy that survives
//! its way to the edge, each route of which is found.
#![no_main]

use libfuzzer_sys::fuzz_target;
use protocol::policy::{Policy, file::parse};

fuzz_target!(|text: &str| match parse(text, "policy.toml") {
    Ok(policy) => {
        let json = serde_json::to_string(&policy).unwrap();
        assert_eq!(serde_json::from_str::<Policy>(&json).unwrap(), policy);
        for route in &policy.routes {
            let path = route.path.as_str().replace(['{', '}'], "");
            let found = policy.route(&route.method, &path).unwrap();
            assert!(found.path.overlaps(&route.path));
        }
    }
    Err(error) => {
        assert!((1..=text.matches('\n').count() + 1).contains(&error.line));
        assert!(!error.wrong.is_empty() && !error.instead.is_empty());
        assert_eq!(error.to_string().lines().count(), 1);
    }
});
