-- What people ask of waiting messages: pause, resume, cancel. A paused entry waits for a person; a canceled one is
-- settled by the next worker that has it.

alter table queue_entry
  add column paused boolean not null default false,
  add column canceled boolean not null default false;

-- Destinations that an account's mail does not go to for now: a domain in lower case, or '*' for all.
create table delivery_pause (
  account_id text not null references account on delete cascade,
  destination text not null,
  paused_at timestamptz not null default now(),
  primary key (account_id, destination)
);
