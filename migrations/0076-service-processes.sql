-- The running processes of the service, as each reports itself. One that stops deletes its row; one that is killed leaves it.
create table service_process (
  id uuid primary key,
  host text not null,
  pid integer not null,
  version text not null,
  roles text[] not null,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  -- Messages whose lease it holds.
  in_flight integer not null,
  -- How late its timers ran since its last report, in milliseconds; the 99th percentile.
  delay_ms integer not null
);
