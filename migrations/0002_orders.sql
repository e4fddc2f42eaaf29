-- Why: the reference operation. UNIQUE (scope, generation) on orders is the last line of defence:
-- whatever becomes of a record, one command never makes two orders.

CREATE TABLE inventory (
    sku   text   PRIMARY KEY,
    stock bigint NOT NULL CHECK (stock >= 0)
);

CREATE TABLE orders (
    id          text        PRIMARY KEY,
    scope       bytea       NOT NULL,
    generation  integer     NOT NULL,
    amount      bigint      NOT NULL,
    currency    text        NOT NULL,
    destination text        NOT NULL,
    items       json        NOT NULL,
    metadata    json,
    charge_id   text        NOT NULL,
    created_at  timestamptz NOT NULL,
    UNIQUE (scope, generation)
);

-- Written in the finishing transaction, published at least once by the relay, in order per order.
CREATE TABLE outbox (
    id           bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id     text        NOT NULL UNIQUE,
    type         text        NOT NULL,
    subject      text        NOT NULL,
    data         json        NOT NULL,
    created_at   timestamptz NOT NULL,
    attempts     integer     NOT NULL DEFAULT 0,
    next_attempt timestamptz NOT NULL,
    published_at timestamptz,
    dead_at      timestamptz
);
CREATE INDEX outbox_unpublished ON outbox (subject, id) WHERE published_at IS NULL AND dead_at IS NULL;

-- A charge to give back: enqueued by the transaction that archives "out of stock".
CREATE TABLE refunds (
    scope        bytea       NOT NULL,
    generation   integer     NOT NULL,
    charge_id    text        NOT NULL,
    created_at   timestamptz NOT NULL,
    attempts     integer     NOT NULL DEFAULT 0,
    next_attempt timestamptz NOT NULL,
    refund_id    text,
    refunded_at  timestamptz,
    needs_operator boolean   NOT NULL DEFAULT false,
    PRIMARY KEY (scope, generation)
);
CREATE INDEX refunds_open ON refunds (next_attempt) WHERE refunded_at IS NULL AND NOT needs_operator;
