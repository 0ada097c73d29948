-- What an account's provider proves counts in its account only.

-- The link with which an account's people sign in. Nobody else knows it, so strangers don't learn which accounts have a provider.
alter table account_sign_in_provider add link uuid not null default gen_random_uuid() unique;

-- Browsers that a person signed in with, by the hash of their cookie. At most ten for each way of signing in.
create table known_browser (
  person_id uuid not null references person on delete cascade,
  hash bytea not null,
  -- How the person signed in: on their own, or `installation` or the account whose provider did.
  proven_by text not null,
  last_used_at timestamptz not null default now(),
  primary key (person_id, proven_by, hash)
);

-- Providers of accounts don't sign in operators: their connections end, and they get a notice.
insert into system_mail (id, kind, to_address, person_id, facts)
select gen_random_uuid(), 'security-notice', p.email, p.id, jsonb_build_object('event', 'provider-disconnected')
from person p
where p.operator and exists (
  select from provider_identity i where i.person_id = p.id and i.provider_account is not null);
delete from provider_identity i using person p
where p.id = i.person_id and p.operator and i.provider_account is not null;
