-- The latest tries of an event, oldest first, each with the headers and the response.
alter table webhook_delivery add tries jsonb not null default '[]';
-- The replay that last selected it.
alter table webhook_delivery add replay_id uuid;

-- A replay of a period. Its events are selected in ranges of the log, so any worker can continue where another one died.
create table webhook_replay (
  account_id text not null,
  endpoint_id uuid not null,
  id uuid not null,
  from_at timestamptz not null,
  until_at timestamptz not null,
  -- Only events in this state; null for all.
  state text check (state in ('delivered', 'failed')),
  after_place bigint not null default 0,
  up_to_place bigint not null,
  events integer not null default 0,
  created_at timestamptz not null default now(),
  changed_at timestamptz not null default now(),
  finished_at timestamptz,
  primary key (account_id, endpoint_id, id),
  foreign key (account_id, endpoint_id) references webhook_endpoint (account_id, id) on delete cascade
);
-- One at a time for each endpoint.
create unique index webhook_replay_running on webhook_replay (account_id, endpoint_id) where finished_at is null;
