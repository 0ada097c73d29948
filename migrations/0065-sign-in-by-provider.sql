-- People who sign in by an OpenID Connect provider. The issuer and its subject identify a person, never an email address.
create table provider_identity (
  id uuid primary key,
  -- The account whose provider it is; null: the installation's.
  provider_account text references account on delete cascade,
  issuer text not null,
  subject text not null,
  person_id uuid not null references person on delete cascade,
  -- The person connected it while signed in another way; otherwise, the provider brought the person in.
  linked boolean not null,
  created_at timestamptz not null,
  last_used_at timestamptz,
  unique nulls not distinct (provider_account, issuer, subject)
);
create index provider_identity_person on provider_identity (person_id);

-- Which sign-in a session comes from; null: a password or passkey. Removing the identity ends its sessions.
alter table browser_session add provider_identity_id uuid references provider_identity on delete cascade;
-- The provider says that it checked several factors, or the person used their own second factor here.
alter table browser_session add provider_second_factor boolean not null default false;
create index browser_session_provider_identity on browser_session (provider_identity_id)
  where provider_identity_id is not null;

-- The provider that granted a membership, and may end it; null: people did.
alter table membership add granted_by text check (granted_by in ('installation', 'account'));
