INSERT INTO idempotency_records (
    scope, fingerprint, fingerprint_version, generation, state, fence, owner, lease_end,
    attempts, request_headers, request_body, principal, key_hash, method, path, query,
    first_seen)
SELECT n.scope, n.fingerprint, n.version, 1, 'pending', 1, n.owner,
       now + n.lease * interval '1 microsecond', 1, n.headers, n.body, n.principal,
       n.key_hash, n.method, n.path, n.query, now
FROM clock_timestamp() AS now,
     unnest($1::bytea[], $2::bytea[], $3::smallint[], $4::uuid[], $5::bigint[], $6::bytea[],
            $7::bytea[], $8::bytea[], $9::bytea[], $10::text[], $11::text[], $12::text[])
     AS n (scope, fingerprint, version, owner, lease, headers, body, principal, key_hash,
           method, path, query)
ORDER BY n.scope
ON CONFLICT (scope) DO NOTHING
RETURNING scope, owner
