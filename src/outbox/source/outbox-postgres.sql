create table if not exists {table} (
  id bigint primary key generated always as identity,
  -- The ID of a published template.
  template varchar(64) not null,
  to_address varchar(254) not null,
  -- The values of the template's fields.
  data jsonb not null default '{}' check (jsonb_typeof(data) = 'object'),
  -- Further members of a send's body: envelope, content, metadata, actions.
  options jsonb not null default '{}' check (jsonb_typeof(options) = 'object'),
  -- When to send; null: at once.
--[own
  send_at timestamptz,
  -- Written by Signalpost: null is waiting, then accepted or failed.
  status text,
  message_id uuid,
  error jsonb,
  processed_at timestamptz{checks}
);

create index if not exists "{bare}_waiting" on {table} (id) where status is null;

create or replace function signalpost_outbox_retry() returns trigger language plpgsql as $$
begin
  return jsonb_populate_record(new, '{"status": null, "error": null}');
end $$;

-- A failed row that is corrected is sent.
create or replace trigger signalpost_outbox_retry before update on {table} for each row
  when (old.status = 'failed' and new.status = 'failed' and to_jsonb(old) - '{status, message_id, error, processed_at}'::text[] is distinct from to_jsonb(new) - '{status, message_id, error, processed_at}'::text[])
  execute function signalpost_outbox_retry();
--]
--[apart
  send_at timestamptz{checks}
);

create table if not exists {answers} (
  id bigint primary key,
  status text,
  message_id uuid,
  error jsonb,
  processed_at timestamptz
);
--]

create or replace function signalpost_outbox_notify() returns trigger language plpgsql as $$
begin
  notify signalpost_outbox;
  return null;
end $$;

create or replace trigger signalpost_outbox after insert or update on {table}
--[own
  for each row when (new.status is null) execute function signalpost_outbox_notify();
--]
--[apart
  for each row execute function signalpost_outbox_notify();
--]

-- With logical replication, instead of this trigger (before PostgreSQL 15 without "(id)"):
-- create publication signalpost_outbox for table {table} (id)
--   with (publish = 'insert', publish_via_partition_root);
