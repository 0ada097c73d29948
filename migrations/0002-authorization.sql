-- The authorization endpoint and what stands around it: codes, consents, browser sessions, second factors, resets,
-- and the memory of wrong guesses.

-- A grant code (section 5.3) by its hash. It outlives its use, so that a second use is recognised.
create table grant_code (
  hash bytea primary key,
  person_id uuid not null references person on delete cascade,
  client_id text not null references integration on delete cascade,
  account_id text not null references account on delete cascade,
  redirect_uri text not null,
  redirect_uri_sent boolean not null,
  code_challenge text,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index grant_code_expiry on grant_code (expires_at);
create index grant_code_person on grant_code (person_id);
create index grant_code_client on grant_code (client_id);
create index grant_code_account on grant_code (account_id);

-- The code that a session began with: its second use ends what the first one issued (RFC 6749 section 4.1.2).
alter table session_pair add code_hash bytea;
alter table access_token add code_hash bytea;
create index session_pair_code on session_pair (code_hash) where code_hash is not null;
create index access_token_code on access_token (code_hash) where code_hash is not null;

-- That a person let an integration act in an account; preselects on the consent page.
create table consent (
  person_id uuid not null references person on delete cascade,
  client_id text not null references integration on delete cascade,
  account_id text not null references account on delete cascade,
  granted_at timestamptz not null,
  primary key (person_id, client_id)
);
create index consent_client on consent (client_id);
create index consent_account on consent (account_id);

-- A rotated secret stays valid beside the new one until its time is over.
alter table integration
  add require_pkce boolean not null default false,
  add initial_requests_per_hour integer not null default 5 check (initial_requests_per_hour between 1 and 1000),
  add previous_secret_hash bytea,
  add previous_secret_until timestamptz;

-- A signed-in browser by the hash of its cookie; not complete while the second factor is missing.
create table browser_session (
  hash bytea primary key,
  id uuid not null unique,
  person_id uuid not null references person on delete cascade,
  complete boolean not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  remote_address text not null,
  user_agent text not null
);
create index browser_session_person on browser_session (person_id);
create index browser_session_expiry on browser_session (expires_at);

-- Time-based codes (RFC 6238). secret is encrypted; last_step is the newest time step that was used, so that no code works twice.
create table second_factor (
  person_id uuid primary key references person on delete cascade,
  secret bytea not null,
  confirmed_at timestamptz,
  last_step bigint not null default 0
);

-- A link by which a person sets a password, by the hash of its token.
create table password_reset (
  hash bytea primary key,
  person_id uuid not null references person on delete cascade,
  expires_at timestamptz not null
);
create index password_reset_person on password_reset (person_id);

-- Wrong guesses by whom and from where; key is a keyed hash. Until free_at the next guess is refused unread.
create table wrong_guess (
  key bytea primary key,
  failures integer not null,
  last_at timestamptz not null,
  free_at timestamptz not null
);
create index wrong_guess_last on wrong_guess (last_at);

create index audit_event_person on audit_event (person_id, at) where person_id is not null;
create index audit_event_client on audit_event (client_id, at) where client_id is not null;
