//! The shard's rules, one test each.

use super::*;

const A: Scope = Scope([1; 32]);
const BODY: Fingerprint = Fingerprint {
    version: 1,
    digest: [1; 32],
};
const OTHER: Fingerprint = Fingerprint {
    version: 1,
    digest: [2; 32],
};

fn shard() -> Flights<&'static str, u32> {
    Flights::new(Limits {
        waiters_per_flight: 2,
        landed_bytes: 100,
        ..Limits::default()
    })
}

fn take(token: u8) -> Take {
    Take {
        scope: A,
        fingerprint: BODY,
        token: Token([token; 16]),
        lock_ttl: 600_000,
    }
}

fn landing(bytes: usize) -> Landing<&'static str> {
    Landing {
        response: "201",
        bytes,
        keep_for: 10_000,
    }
}

#[test]
fn the_first_leads_and_the_equal_one_waits_for_its_response() {
    let mut shard = shard();
    assert_eq!(shard.take(&take(1), 0), Taken::Lead);
    assert_eq!(
        shard.take(&take(1), 1),
        Taken::Lead,
        "the same token again is no rival"
    );
    assert_eq!(shard.take(&take(2), 1), Taken::Wait { lease_end: 5_000 });
    assert_eq!(shard.park(&A, 2), None);
    assert_eq!(
        shard.land(&A, Token([1; 16]), Some(landing(10)), 100),
        vec![2]
    );
    assert_eq!(shard.take(&take(2), 100), Taken::Replay("201"));
    assert_eq!(shard.park(&A, 3), Some(3), "a landed flight parks nobody");
}

#[test]
fn another_command_asks_the_origin_while_the_first_is_up_and_is_refused_after_it_landed() {
    let mut shard = shard();
    let other = Take {
        fingerprint: OTHER,
        ..take(2)
    };
    shard.take(&take(1), 0);
    assert_eq!(shard.take(&other, 1), Taken::AskOrigin);
    assert_eq!(
        shard.take(&other, 9_000),
        Taken::AskOrigin,
        "a dead lock refuses nobody"
    );
    shard.land(&A, Token([1; 16]), Some(landing(10)), 2);
    assert_eq!(shard.take(&other, 3), Taken::Mismatch);
    let newer = Fingerprint { version: 2, ..BODY };
    let newer = Take {
        fingerprint: newer,
        ..take(2)
    };
    assert_eq!(shard.take(&newer, 3), Taken::AskOrigin);
}

#[test]
fn a_flight_that_landed_nothing_lets_a_waiter_lead() {
    let mut shard = shard();
    shard.take(&take(1), 0);
    shard.take(&take(2), 0);
    shard.park(&A, 2);
    assert_eq!(shard.land(&A, Token([1; 16]), None, 10), vec![2]);
    assert_eq!(shard.take(&take(2), 10), Taken::Lead);
}

#[test]
fn a_lapsed_lease_is_led_by_the_next_and_its_first_holder_has_no_say() {
    let mut shard = shard();
    shard.take(&take(1), 0);
    assert_eq!(
        shard.take(&take(2), 4_999),
        Taken::Wait { lease_end: 5_000 }
    );
    assert_eq!(shard.take(&take(2), 5_000), Taken::Lead);
    assert!(!shard.renew(&A, Token([1; 16]), 5_001));
    assert!(
        shard
            .land(&A, Token([1; 16]), Some(landing(10)), 5_002)
            .is_empty()
    );
    assert_eq!(
        shard.take(&take(3), 5_003),
        Taken::Wait { lease_end: 10_000 }
    );
}

#[test]
fn renewal_ends_at_lock_ttl() {
    let mut shard = shard();
    let short = Take {
        lock_ttl: 7_000,
        ..take(1)
    };
    shard.take(&short, 0);
    assert!(shard.renew(&A, short.token, 4_000));
    assert_eq!(
        shard.take(&take(2), 6_999),
        Taken::Wait { lease_end: 7_000 }
    );
    assert!(!shard.renew(&A, short.token, 7_000));
}

#[test]
fn waiters_are_limited_and_slots_come_back() {
    let mut shard = shard();
    shard.take(&take(1), 0);
    shard.park(&A, 2);
    shard.park(&A, 3);
    assert_eq!(shard.take(&take(4), 1), Taken::Full);
    shard.unpark(&A, |waiter| *waiter == 2);
    assert!(matches!(shard.take(&take(4), 1), Taken::Wait { .. }));
}

#[test]
fn landed_responses_leave_by_time_and_by_bytes() {
    let mut shard = shard();
    shard.take(&take(1), 0);
    shard.land(&A, Token([1; 16]), Some(landing(10)), 0);
    assert_eq!(
        shard.take(&take(2), 10_000),
        Taken::Lead,
        "its time is over"
    );
    shard.land(&A, Token([2; 16]), Some(landing(26)), 10_000);
    assert!(
        shard.is_empty(),
        "more than a quarter of the budget is not kept"
    );
    for n in 0..9 {
        let scope = Scope([n + 10; 32]);
        shard.take(&Take { scope, ..take(1) }, 20_000);
        shard.land(&scope, Token([1; 16]), Some(landing(25)), 20_000);
    }
    assert_eq!(shard.len(), 4);
}

#[test]
fn dead_locks_do_not_pile_up() {
    let mut shard = shard();
    for n in 0..10_000_u64 {
        let mut scope = [0; 32];
        scope[..8].copy_from_slice(&n.to_be_bytes());
        shard.take(
            &Take {
                scope: Scope(scope),
                ..take(1)
            },
            n * 100,
        );
    }
    assert!(shard.len() <= PURGE_MIN, "{}", shard.len());
}

#[test]
fn retry_after_follows_how_long_flights_take() {
    let mut shard = shard();
    assert_eq!(shard.retry_after(), 1);
    for n in 0..50 {
        shard.take(&take(1), n * 100_000);
        shard.land(&A, Token([1; 16]), None, n * 100_000 + 4_000);
    }
    assert!(
        (3..=4).contains(&shard.retry_after()),
        "{}",
        shard.retry_after()
    );
}
