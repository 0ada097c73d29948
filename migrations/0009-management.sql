-- What the management API adds: operators, keys for machines, drafts, imports, and what callers of a template supply.

-- An operator looks after the installation as a whole: makes accounts, suspends them, gives add-ons.
alter table person add column operator boolean not null default false;

-- A key for a machine, by its keyed hash; the key itself names the account.
create table api_key (
  account_id text not null references account on delete cascade,
  id uuid not null,
  hash bytea not null,
  name text not null,
  scopes text[] not null,
  created_by uuid references person on delete set null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  last_used_at timestamptz,
  primary key (account_id, id),
  unique (account_id, hash)
);

-- The content that the next version of a template will have, in the form of the manifest.
create table template_draft (
  account_id text not null,
  template_id text not null,
  content jsonb not null,
  changed_by uuid references person on delete set null,
  changed_at timestamptz not null default now(),
  primary key (account_id, template_id),
  foreign key (account_id, template_id) references template (account_id, id) on delete cascade
);

-- How far the import of a file into a contact list is. A running one that was not heard of for a while has ended with its node.
create table contact_import (
  account_id text not null,
  list_id text not null,
  id uuid not null,
  state text not null check (state in ('running', 'done', 'failed')),
  bytes_total bigint not null,
  bytes_read bigint not null default 0,
  rows_read integer not null default 0,
  rows_written integer not null default 0,
  rows_wrong integer not null default 0,
  problems jsonb not null default '[]',
  created_at timestamptz not null default now(),
  changed_at timestamptz not null default now(),
  primary key (account_id, list_id, id),
  foreign key (account_id, list_id) references contact_list (account_id, id) on delete cascade
);

-- Which fields the callers of a template give values for: one row for each set of names.
create table template_call (
  account_id text not null references account on delete cascade,
  template_id text not null,
  shape bytea not null,
  fields text[] not null,
  own_subject boolean not null,
  own_preview boolean not null,
  last_at timestamptz not null,
  last_message_id uuid not null,
  primary key (account_id, template_id, shape)
);

create index audit_event_account on audit_event (account_id, at) where account_id is not null;
