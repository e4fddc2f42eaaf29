-- Why: the record is the authority on every key, across edges, origins and regions. It stays small
-- (it lives on as the tombstone), and what is large, the archived response, lives in partitions
-- that are dropped whole when they expire.

CREATE TABLE idempotency_records (
    scope               bytea       PRIMARY KEY CHECK (octet_length(scope) = 32),
    fingerprint         bytea       NOT NULL CHECK (octet_length(fingerprint) = 32),
    fingerprint_version smallint    NOT NULL,
    generation          integer     NOT NULL CHECK (generation >= 1),
    state               text        NOT NULL CHECK (state IN ('pending', 'succeeded', 'failed', 'released')),
    fence               bigint      NOT NULL CHECK (fence >= 1),
    owner               uuid        NOT NULL,
    lease_end           timestamptz NOT NULL,
    attempts            integer     NOT NULL,
    may_have_acted      boolean     NOT NULL DEFAULT false,
    needs_operator      boolean     NOT NULL DEFAULT false,
    -- Kept so that an abandoned operation ends with no client; cleared when it has ended.
    request_headers     bytea,
    request_body        bytea,
    -- For inspection only; the key itself is never stored.
    principal           bytea       NOT NULL,
    key_hash            bytea       NOT NULL,
    method              text        NOT NULL,
    path                text        NOT NULL,
    query               text        NOT NULL,
    first_seen          timestamptz NOT NULL,
    finished_at         timestamptz,
    expires_at          timestamptz,
    -- The partition that holds the response; NULL while there is none, or when it was too large.
    archive_day         date,
    location            text,
    CHECK ((state IN ('succeeded', 'failed')) = (expires_at IS NOT NULL)),
    CHECK (archive_day IS NULL OR expires_at IS NOT NULL),
    CHECK (state <> 'pending' OR request_body IS NOT NULL)
) WITH (fillfactor = 80);

-- Jobs look for what is pending or released; both are few.
CREATE INDEX idempotency_records_pending ON idempotency_records (lease_end) WHERE state = 'pending';
CREATE INDEX idempotency_records_released ON idempotency_records (lease_end) WHERE state = 'released';

-- Bytes, never jsonb: a replay is the first answer to the byte (CASES C30).
CREATE TABLE archived_responses (
    expires_day date     NOT NULL,
    scope       bytea    NOT NULL,
    generation  integer  NOT NULL,
    status      smallint NOT NULL,
    headers     bytea    NOT NULL,
    body        bytea    NOT NULL,
    PRIMARY KEY (expires_day, scope, generation)
) PARTITION BY RANGE (expires_day);

-- A finish never fails for want of a partition; the reaper makes each day's ahead of time.
CREATE TABLE archived_responses_default PARTITION OF archived_responses DEFAULT;
