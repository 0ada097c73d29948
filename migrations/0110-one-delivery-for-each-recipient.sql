-- What is left to do for each recipient of a message that isn't final for them. While a worker holds the lease, due_at is the time
-- when the lease ends, so a delivery whose worker died is due again.
create table queued_delivery (
  account_id text not null,
  message_id uuid not null,
  -- 0 is To, then come Cc, Bcc and the archive address. Adopted from an entry whose last recipient was erased: -1.
  recipient smallint not null,
  retention_days smallint not null,
  priority smallint not null,
  due_at timestamptz not null,
  expires_at timestamptz not null,
  deliver_before timestamptz,
  fence bigint not null default 0,
  attempts integer not null default 0,
  orphaned smallint not null default 0,
  alone boolean not null default false,
  -- Held for review.
  held boolean not null default false,
  paused boolean not null default false,
  canceled boolean not null default false,
  -- An earlier attempt may have sent the final dot; its event is recorded.
  doubtful boolean not null default false,
  stage text check (stage in ('claimed', 'dot')),
  lease_owner uuid,
  reason text,
  primary key (account_id, message_id, recipient),
  constraint queued_delivery_lease_ends check (lease_owner is null or due_at < 'infinity')
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
create index queued_delivery_due on queued_delivery (account_id, priority, due_at);
create index queued_delivery_deadline on queued_delivery (account_id, deliver_before) where deliver_before is not null;

-- Rows are found by key, so coarse statistics are enough.
do $$ begin
  execute (
    select format('alter table queued_delivery %s', string_agg(format('alter column %I set statistics 10', attname), ', '))
    from pg_attribute where attrelid = 'queued_delivery'::regclass and attnum > 0 and not attisdropped);
end $$;

-- Until the schema contracts, processes of the release before work on queue_entry, with one row for all recipients of a message,
-- and those of this release on queued_delivery. Each message is in one of both.

-- Takes over entries, free ones or all. A lease that ended keeps its stage, so that a final dot that may have been sent is
-- recorded. What the send time decided for a scheduled message stays as it is after the first attempt.
create function adopt_queue_entries(most integer, leased boolean) returns void language plpgsql as $$
begin
  with taken as materialized (
    select * from queue_entry where leased or lease_owner is null or due_at <= now() limit most for update skip locked),
  removed as (
    delete from queue_entry q using taken t where q.account_id = t.account_id and q.message_id = t.message_id),
  checked as (
    update message m set content = (m.content::jsonb || '{"checkedAtDue": true}')::json
    from taken t
    where t.attempts > 0 and t.retention_days > 10000 and m.content -> 'templateVersion' is null and m.content is not null
      and m.account_id = t.account_id and m.id = t.message_id and m.retention_days = t.retention_days)
  insert into queued_delivery (account_id, message_id, recipient, retention_days, priority, due_at, expires_at, deliver_before,
    fence, attempts, orphaned, alone, held, paused, canceled, doubtful, stage, lease_owner, reason)
  select account_id, message_id, recipient, retention_days, priority,
    case when recipient = any (held) then 'infinity' else due_at end, expires_at, deliver_before, fence, attempts, orphaned, alone,
    recipient = any (held), paused, canceled, coalesce(recipient = any (doubtful), false),
    case when stage = 'dot' and not recipient = any (coalesce(in_transaction, pending)) then 'claimed' else stage end,
    case when recipient = any (held) then null else lease_owner end, reason
  from taken cross join unnest(case when pending || held = '{}' then '{-1}' else pending || held end) as recipient;
end $$;

-- Gives messages back to the release before, if the operator goes back to it.
create function give_back_queue_entries(most integer) returns void language plpgsql as $$
begin
  with free as materialized (
    select account_id, message_id from queued_delivery q
    where not exists (select from queue_entry e where e.account_id = q.account_id and e.message_id = q.message_id)
    group by 1, 2 having not bool_or(lease_owner is not null and due_at > now()) limit most),
  taken as (
    delete from queued_delivery q using free
    where q.account_id = free.account_id and q.message_id = free.message_id
    returning q.*)
  insert into queue_entry (account_id, message_id, retention_days, priority, due_at, expires_at, deliver_before, fence, attempts,
    orphaned, pending, held, in_transaction, doubtful, paused, canceled, stage, lease_owner, reason)
  select account_id, message_id, min(retention_days), min(priority),
    min(due_at), max(expires_at), min(deliver_before), max(fence), max(attempts), max(orphaned),
    coalesce(array_agg(recipient order by recipient) filter (where not held and recipient >= 0), '{}'),
    coalesce(array_agg(recipient order by recipient) filter (where held), '{}'),
    array_agg(recipient order by recipient) filter (where stage = 'dot'),
    array_agg(recipient order by recipient) filter (where doubtful),
    bool_or(paused), bool_or(canceled), case when bool_or(stage = 'dot') then 'dot' end,
    (array_agg(lease_owner) filter (where stage = 'dot'))[1], (array_agg(reason order by due_at))[1]
  from taken group by 1, 2;
end $$;

-- Processes report every 3 seconds that they run.
create function share_queue() returns trigger language plpgsql as $$
begin
  if new.latest_migration >= 110 then
    perform adopt_queue_entries(5000, false);
  elsif not exists (
      select from key_node where latest_migration >= 110 and seen_at > now() - interval '15 seconds') then
    perform give_back_queue_entries(5000);
  end if;
  return null;
end $$;
create trigger share_queue after insert or update on key_node for each row execute function share_queue();
