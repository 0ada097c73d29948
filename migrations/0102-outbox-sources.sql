-- Tables of accounts' own databases whose rows are sent.
create table outbox_source (
  account_id text not null references account on delete cascade,
  id text not null,
  -- Part of the idempotency keys of its rows, so that a source that is added again has none of the old ones.
  incarnation uuid not null default gen_random_uuid(),
  table_name text not null,
  sealed_url bytea not null,
  server text not null,
  rows_per_second integer not null,
  created_at timestamptz not null default now(),
  -- The process that reads it, until when.
  lease_owner uuid,
  lease_until timestamptz,
  read_at timestamptz,
  -- When no row was left to read.
  drained_at timestamptz not null default now(),
  failing_since timestamptz,
  failure text,
  failure_detail text,
  primary key (account_id, id)
);
