-- Requests of the API that failed although their caller was known, for the account's developers. No bodies, no values.
create table failed_request (
  account_id text not null references account (id) on delete cascade,
  -- The ID that the response had.
  id uuid not null,
  at timestamptz not null default now(),
  -- An API key's ID, or an OAuth app's.
  client_id text not null,
  method text not null,
  route text not null,
  status smallint not null,
  error text not null,
  details jsonb not null,
  primary key (account_id, id)
);
create index failed_request_at on failed_request (at);
