-- What is written behind accepting and delivering follows messages and events in the order of their commits: a row names
-- its transaction, and everything below the oldest transaction that still runs is complete.

alter table message add column tx xid8 not null default pg_current_xact_id();
alter table message_event add column tx xid8 not null default pg_current_xact_id();
create index message_tx on message (tx);
create index message_event_tx on message_event (tx);

-- How far each follower has come: everything before tx is done. One node at a time holds a row's lock.
create table feed_cursor (
  name text primary key,
  tx xid8 not null default '0'
);

create index suppression_created on suppression (account_id, created_at, address);
