WITH f AS MATERIALIZED (
    SELECT f.*, now, now + f.retention * interval '1 microsecond' AS expires
    FROM clock_timestamp() AS now,
         unnest($1::bytea[], $2::integer[], $3::bigint[], $4::uuid[], $5::bigint[], $6::text[],
                $7::boolean[], $8::text[], $9::smallint[], $10::bytea[], $11::bytea[],
                $12::bigint[])
         AS f (scope, generation, fence, owner, retention, state, kept, location, status,
               headers, body, remembered)),
held AS MATERIALIZED (
    SELECT r.scope FROM f JOIN idempotency_records r ON r.scope = f.scope
       AND r.state = 'pending' AND r.generation = f.generation
       AND r.fence = f.fence AND r.owner = f.owner
    ORDER BY r.scope FOR UPDATE OF r),
finished AS (
    UPDATE idempotency_records r SET
        state = f.state, finished_at = f.now, expires_at = f.expires,
        archive_day = CASE WHEN f.kept THEN (f.expires AT TIME ZONE 'UTC')::date END,
        location = f.location, request_headers = NULL, request_body = NULL,
        needs_operator = false,
        tombstone_ends = f.now + f.remembered * interval '1 microsecond'
    FROM f JOIN held ON held.scope = f.scope
    WHERE r.scope = f.scope AND r.state = 'pending' AND r.generation = f.generation
      AND r.fence = f.fence AND r.owner = f.owner
    RETURNING r.scope, r.generation, f.owner, r.expires_at, r.archive_day),
archived AS (
    INSERT INTO archived_responses (expires_day, scope, generation, status, headers, body)
    SELECT d.archive_day, d.scope, d.generation, f.status, f.headers, f.body
    FROM finished d JOIN f ON f.scope = d.scope AND f.owner = d.owner
    WHERE d.archive_day IS NOT NULL
    -- What a lost record left behind gives way.
    ON CONFLICT (expires_day, scope, generation) DO UPDATE
    SET status = excluded.status, headers = excluded.headers, body = excluded.body)
SELECT scope, owner, expires_at FROM finished
