-- People, accounts and what they set up; messages, their queue and their events; sessions; the inbox.
-- Account data has account_id first in every key, so that the same statements run on a database sharded by account.

-- One row: facts about this installation.
create table installation (
  id boolean primary key default true check (id),
  key_fingerprint text,
  demo_applied_at timestamptz,
  created_at timestamptz not null default now()
);
insert into installation default values;

create table account (
  id text primary key,
  name text not null,
  add_ons text[] not null default '{}',
  suspended_at timestamptz,
  retention_days smallint not null default 90 check (retention_days in (30, 90, 400)),
  created_at timestamptz not null default now()
);

-- People are global; membership says in which accounts they act. email is stored in lower case.
create table person (
  id uuid primary key,
  email text not null unique check (email = lower(email)),
  name text not null,
  password_hash text,
  disabled_at timestamptz,
  created_at timestamptz not null default now()
);

create table membership (
  account_id text not null references account on delete cascade,
  person_id uuid not null references person on delete cascade,
  role text not null check (role in ('owner', 'developer', 'marketer', 'viewer')),
  created_at timestamptz not null default now(),
  primary key (account_id, person_id)
);
create index membership_person on membership (person_id);

-- client_id is unique in the installation. The secret is stored as a keyed hash.
create table integration (
  client_id text primary key,
  account_id text not null references account on delete cascade,
  name text not null,
  secret_hash bytea not null,
  redirect_uri text not null,
  grants text[] not null,
  disabled_at timestamptz,
  created_at timestamptz not null default now()
);
create index integration_account on integration (account_id);

-- address is stored in lower case with an ASCII domain; '*' among the names allows any display name.
create table sender (
  account_id text not null references account on delete cascade,
  address text not null,
  display_names text[] not null default '{}',
  verified_at timestamptz,
  created_at timestamptz not null default now(),
  primary key (account_id, address)
);

create table template (
  account_id text not null references account on delete cascade,
  id text not null,
  name text not null,
  created_by uuid not null references person,
  published_version integer,
  removed_at timestamptz,
  created_at timestamptz not null default now(),
  primary key (account_id, id)
);

-- A version is never changed once it is written: accepted messages are rendered from it for as long as they are kept.
create table template_version (
  account_id text not null,
  template_id text not null,
  version integer not null,
  content_hash bytea not null,
  sender_address text,
  source jsonb not null,
  compiled jsonb not null,
  freshness_seconds integer not null default 900 check (freshness_seconds > 0),
  created_at timestamptz not null default now(),
  primary key (account_id, template_id, version),
  foreign key (account_id, template_id) references template (account_id, id) on delete cascade
);

create table contact_list (
  account_id text not null references account on delete cascade,
  id text not null,
  name text not null,
  folder_name text not null default '',
  description text not null default '',
  source_size integer not null default 0,
  content_hash bytea,
  created_at timestamptz not null default now(),
  modified_at timestamptz not null default now(),
  primary key (account_id, id)
);

create table contact (
  account_id text not null,
  list_id text not null,
  email text not null,
  fields jsonb not null default '{}',
  created_at timestamptz not null default now(),
  primary key (account_id, list_id, email),
  foreign key (account_id, list_id) references contact_list (account_id, id) on delete cascade
);

-- Who must not be written to. Unsubscribes hold for non-transactional mail only.
create table suppression (
  account_id text not null references account on delete cascade,
  address text not null,
  reason text not null check (reason in ('hard_bounce', 'complaint', 'unsubscribe', 'manual')),
  message_id uuid,
  expires_at timestamptz,
  created_at timestamptz not null default now(),
  primary key (account_id, address, reason)
);

-- One row per person/client pair (section 5.1 rule 4): the hash of the one live refresh token and
-- the times of the initial token requests granted in the last hour (section 8).
create table session_pair (
  person_id uuid not null references person on delete cascade,
  client_id text not null references integration on delete cascade,
  account_id text,
  refresh_hash bytea,
  spent_refresh_hash bytea,
  initial_requests timestamptz[] not null default '{}',
  changed_at timestamptz not null default now(),
  primary key (person_id, client_id)
);
create unique index session_pair_refresh on session_pair (refresh_hash);
create index session_pair_spent_refresh on session_pair (spent_refresh_hash);
create index session_pair_client on session_pair (client_id);

-- account_id is the account chosen on the consent page; null acts in every account of the person.
create table access_token (
  hash bytea primary key,
  person_id uuid not null references person on delete cascade,
  client_id text not null references integration on delete cascade,
  account_id text,
  issued_at timestamptz not null,
  expires_at timestamptz not null
);
create index access_token_pair on access_token (person_id, client_id);
create index access_token_client on access_token (client_id);
create index access_token_expiry on access_token (expires_at);

-- Security-relevant events: who, what, from where, outcome. Never a secret.
create table audit_event (
  id uuid primary key,
  at timestamptz not null default now(),
  kind text not null,
  outcome text not null,
  person_id uuid,
  client_id text,
  account_id text,
  remote_address text,
  request_id text,
  detail jsonb not null default '{}'
);
create index audit_event_at on audit_event (at);

-- Partitioned by retention class, then by time: a message's UUID v7 names its partition.
-- content holds all personal data of the message and can be erased by itself.
create table message (
  account_id text not null,
  id uuid not null,
  retention_days smallint not null,
  template_id text not null,
  template_version integer not null,
  state text not null default 'queued' check (state in (
    'queued', 'sending', 'deferred', 'delivered', 'bounced', 'expired', 'failed', 'uncertain', 'suppressed', 'canceled')),
  transactional boolean not null,
  track_opens boolean not null,
  track_clicks boolean not null,
  deliver_when_delayed boolean not null,
  external_id text,
  tag text,
  client_id text not null,
  accepted_at timestamptz not null,
  state_at timestamptz not null,
  content json,
  primary key (account_id, id, retention_days)
) partition by list (retention_days);
create table message_30 partition of message for values in (30) partition by range (id);
create table message_90 partition of message for values in (90) partition by range (id);
create table message_400 partition of message for values in (400) partition by range (id);
create table message_30_rest partition of message_30 default;
create table message_90_rest partition of message_90 default;
create table message_400_rest partition of message_400 default;

-- What became of a message. recipient counts 0 for To, 1 and up for Cc, null for the whole message.
create table message_event (
  account_id text not null,
  message_id uuid not null,
  retention_days smallint not null,
  id uuid not null,
  at timestamptz not null,
  kind text not null,
  recipient smallint,
  detail json not null default '{}',
  primary key (account_id, message_id, id, retention_days)
) partition by list (retention_days);
create table message_event_30 partition of message_event for values in (30) partition by range (message_id);
create table message_event_90 partition of message_event for values in (90) partition by range (message_id);
create table message_event_400 partition of message_event for values in (400) partition by range (message_id);
create table message_event_30_rest partition of message_event_30 default;
create table message_event_90_rest partition of message_event_90 default;
create table message_event_400_rest partition of message_event_400 default;

-- Only messages that are not final have a row here. While a worker holds the lease, due_at is the time
-- when the lease ends; so a message whose worker died is due again by itself.
create table queue_entry (
  account_id text not null,
  message_id uuid not null,
  retention_days smallint not null,
  priority smallint not null,
  due_at timestamptz not null,
  expires_at timestamptz not null,
  attempts integer not null default 0,
  lease_owner uuid,
  fence bigint not null default 0,
  stage text check (stage in ('claimed', 'dot')),
  pending smallint[] not null,
  reason text,
  primary key (account_id, message_id)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
create index queue_entry_due on queue_entry (account_id, priority, due_at);

create table idempotency_key (
  account_id text not null,
  key text not null,
  request_hash bytea not null,
  message_id uuid not null,
  suppressed_recipients text[] not null default '{}',
  created_at timestamptz not null,
  primary key (account_id, key)
);
create index idempotency_key_created on idempotency_key (created_at);

-- Mail received by the local inbox.
create table inbox_message (
  id uuid primary key,
  received_at timestamptz not null,
  envelope_from text not null,
  envelope_to text[] not null,
  subject text not null,
  headers jsonb not null,
  html text,
  text text,
  source bytea not null
);
create index inbox_message_received on inbox_message (received_at desc, id desc);
