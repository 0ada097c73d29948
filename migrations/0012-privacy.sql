-- How long an account keeps less than its retention class does; null: as long as the message.
create table retention_rule (
  account_id text primary key references account on delete cascade,
  -- Values, subject and preview text of messages; addresses go with content_days or later.
  content_days smallint check (content_days >= 3),
  -- Addresses, and with them all else that is personal in a message.
  address_days smallint check (address_days >= 3),
  -- Opens and clicks.
  engagement_days smallint check (engagement_days >= 3),
  -- Messages up to these ids are done.
  content_done uuid not null default '00000000-0000-0000-0000-000000000000',
  address_done uuid not null default '00000000-0000-0000-0000-000000000000',
  engagement_done uuid not null default '00000000-0000-0000-0000-000000000000'
);

-- That a person's data was erased or handed out: by a keyed hash of the address, so that the record holds none of it.
create table privacy_record (
  account_id text not null references account on delete cascade,
  id uuid not null,
  at timestamptz not null default now(),
  kind text not null check (kind in ('erase', 'export')),
  address_hash bytea not null,
  requested_by text not null,
  counts jsonb not null,
  primary key (account_id, id)
);
