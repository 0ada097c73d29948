-- Passkeys (WebAuthn Level 2). A person can have several; each counts as a second factor, and one that verifies its user signs
-- in alone.
create table passkey (
  id uuid primary key,
  person_id uuid not null references person on delete cascade,
  credential_id bytea not null unique,
  public_key bytea not null,
  sign_count bigint not null,
  transports text[] not null,
  name text not null,
  created_at timestamptz not null,
  last_used_at timestamptz
);
create index passkey_person on passkey (person_id);

-- Challenges that signed somebody in, until they would have expired anyway. Unused ones aren't stored.
create table spent_challenge (
  challenge bytea primary key,
  expires_at timestamptz not null
);
create index spent_challenge_expiry on spent_challenge (expires_at);

-- Recovery codes replace any second factor, not only time-based codes.
alter table recovery_code drop constraint recovery_code_person_id_fkey;
alter table recovery_code add foreign key (person_id) references person on delete cascade;

-- When the person last proved who they are in this browser; sensitive changes ask again.
alter table browser_session add authenticated_at timestamptz not null default now();
update browser_session set authenticated_at = created_at;
