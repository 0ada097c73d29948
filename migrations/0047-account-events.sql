-- The events of an account in the order of their commits: each page lists up to 100, and its rows stay where they are.
-- Positions in a page count from 1.
create table account_event_page (
  account_id text not null references account on delete cascade,
  page bigint not null generated always as identity,
  size smallint not null,
  last_at timestamptz not null,
  message_ids uuid[] not null,
  event_ids uuid[] not null,
  retention_days smallint[] not null,
  primary key (account_id, page)
);

-- The newest page that was deleted at the end of retention; a reader before its end has missed events.
create table account_event_start (
  account_id text primary key references account on delete cascade,
  page bigint not null,
  size smallint not null
);

-- On an upgrade, the pages start where the other followers are.
insert into feed_cursor (name, tx) select 'account events', min(tx) from feed_cursor having count(*) > 0;
