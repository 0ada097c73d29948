-- How far the log of audit events or message events has come: everything before tx is written. One node at a time holds a
-- row's lock.
create table log_cursor (
  name text primary key,
  tx xid8 not null,
  moved_at timestamptz not null default now()
);

-- Null for earlier events, which are not written to the log. A default for them would rewrite the table.
alter table audit_event add column tx xid8;
alter table audit_event alter column tx set default pg_current_xact_id();
create index audit_event_tx on audit_event (tx) where tx is not null;
