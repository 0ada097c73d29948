-- The retention of a message with a send time counts from that time, which can be changed. No weekly partition fits it, so
-- such messages have partitions of their own, named by their retention class plus 10,000, and are deleted one by one.
create table message_scheduled partition of message for values in (10030, 10090, 10400)
  with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
create table message_event_scheduled partition of message_event for values in (10030, 10090, 10400)
  with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
create table message_search_scheduled partition of message_search for values in (10030, 10090, 10400)
  with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
create table message_attribute_scheduled partition of message_attribute for values in (10030, 10090, 10400)
  with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);

-- One row for each of them until it is deleted.
create table scheduled_message (
  account_id text not null,
  message_id uuid not null,
  retention_days smallint not null,
  send_at timestamptz not null,
  -- How long it can be delivered from then on.
  lifetime_seconds integer not null,
  -- When it is deleted.
  keep_until timestamptz not null,
  tag text,
  external_id text,
  -- False once it was canceled before its send time.
  waiting boolean not null default true,
  content_erased boolean not null default false,
  addresses_erased boolean not null default false,
  primary key (account_id, message_id)
);
create index scheduled_message_waiting on scheduled_message (account_id, send_at, message_id) where waiting;
create index scheduled_message_tag on scheduled_message (account_id, tag, send_at, message_id) where waiting and tag is not null;
create index scheduled_message_external on scheduled_message (account_id, external_id, send_at, message_id)
  where waiting and external_id is not null;
create index scheduled_message_erasable on scheduled_message (account_id, send_at)
  where not content_erased or not addresses_erased;
create index scheduled_message_end on scheduled_message (keep_until);

-- Messages near their deadline are claimed first.
alter table queue_entry add column deliver_before timestamptz;
create index queue_entry_deadline on queue_entry (account_id, deliver_before) where deliver_before is not null;

-- Like the other columns and partitions: rows are found by key, so coarse statistics are enough.
alter table queue_entry alter column deliver_before set statistics 10;
do $$
begin
  execute (
    select format('alter table message_scheduled %s',
      string_agg(format('alter column %I set statistics 10', attname), ', '))
    from pg_attribute where attrelid = 'message_scheduled'::regclass and attnum > 0 and not attisdropped);
end $$;
