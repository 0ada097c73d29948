-- Where an account wants to hear of events. Secrets are encrypted under the installation's key.
create table webhook_endpoint (
  account_id text not null references account on delete cascade,
  id uuid not null,
  url text not null,
  kinds text[] not null,
  secret bytea not null,
  previous_secret bytea,
  previous_until timestamptz,
  failing_since timestamptz,
  paused_at timestamptz,
  paused_reason text,
  created_at timestamptz not null default now(),
  primary key (account_id, id)
);

-- One event for one endpoint: what is to be delivered, and the log of what was. place is the order of commits.
create table webhook_delivery (
  account_id text not null,
  endpoint_id uuid not null,
  event_id uuid not null,
  message_id uuid not null,
  retention_days smallint not null,
  kind text not null,
  recipient smallint,
  event_at timestamptz not null,
  detail json not null,
  place bigint generated always as identity,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
  attempts integer not null default 0,
  claimed_until timestamptz,
  due_since timestamptz not null default now(),
  last_at timestamptz,
  last_status integer,
  last_request text,
  last_answer text,
  primary key (account_id, endpoint_id, event_id),
  foreign key (account_id, endpoint_id) references webhook_endpoint (account_id, id) on delete cascade
);
create index webhook_delivery_pending on webhook_delivery (account_id, endpoint_id, message_id, place) where state = 'pending';
create index webhook_delivery_log on webhook_delivery (account_id, endpoint_id, place);
create index webhook_delivery_message on webhook_delivery (account_id, message_id);
create index webhook_delivery_done on webhook_delivery (last_at) where state <> 'pending';
