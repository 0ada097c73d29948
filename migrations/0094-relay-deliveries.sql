-- The IDs that relays gave deliveries, by which their reports name them.
create table relay_delivery (
  account_id text not null,
  relay_id text not null,
  message_id uuid not null,
  at timestamptz not null default now(),
  primary key (account_id, relay_id)
);
create index relay_delivery_at on relay_delivery (at);
-- Reports after delivery that matched no message, since a process started.
alter table service_process add column unmatched_reports bigint not null default 0;
