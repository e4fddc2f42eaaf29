-- Why: an operator settles what no program can, and each change of theirs leaves a row. And where
-- policy says so, a tombstone has an end, after which its key may execute again.

CREATE TABLE record_changes (
    id         bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    changed_at timestamptz NOT NULL,
    operator   text        NOT NULL CHECK (operator <> ''),
    action     text        NOT NULL CHECK (action IN ('release', 'resolve', 'purge')),
    scope      bytea       NOT NULL CHECK (octet_length(scope) = 32),
    generation integer     NOT NULL,
    -- What the record was before.
    state      text        NOT NULL,
    fence      bigint      NOT NULL,
    attempts   integer     NOT NULL,
    note       text        NOT NULL
);
CREATE INDEX record_changes_scope ON record_changes (scope, id);

-- NULL is for ever, as it is for what an older origin finishes. It is looked for in the order of
-- the primary key, so that no index has to be built while older origins serve.
ALTER TABLE idempotency_records ADD COLUMN tombstone_ends timestamptz;
