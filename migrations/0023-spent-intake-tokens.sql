-- Tokens of relays' signed reports that were used, by their SHA-256, so that a request that is sent again changes nothing.
create table spent_intake_token (
  hash bytea primary key,
  spent_at timestamptz not null default now()
);
create index spent_intake_token_spent_at on spent_intake_token (spent_at);
