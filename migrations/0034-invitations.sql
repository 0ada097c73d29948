-- People who were asked into an account and have not answered. A withdrawn row stays until it expires, so that inviting and
-- withdrawing by turns mails no more than inviting does.
create table invitation (
  account_id text not null references account on delete cascade,
  email text not null check (email = lower(email)),
  hash bytea not null unique,
  role text not null,
  name text,
  invited_by uuid not null references person on delete cascade,
  created_at timestamptz not null default now(),
  sent_at timestamptz not null,
  expires_at timestamptz not null,
  withdrawn_at timestamptz,
  primary key (account_id, email)
);
create index invitation_invited_by on invitation (invited_by);
create index invitation_expires on invitation (expires_at);
