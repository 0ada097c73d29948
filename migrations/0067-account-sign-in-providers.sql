-- An account's own OpenID Connect provider. It signs people in to this account only.
create table account_sign_in_provider (
  account_id text primary key references account on delete cascade,
  name text not null,
  issuer text not null,
  client_id text not null,
  client_secret bytea not null,
  trust_email boolean not null,
  -- A list of {"role": …, "group": …} or {"role": …, "domain": …}.
  members jsonb not null
);
