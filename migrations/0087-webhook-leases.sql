-- Webhooks claim their deliveries from the log itself, instead of through jobs in the schema graphile_worker. Processes of 0.2 run
-- beside this: both leave alone what the other has claimed (`claimed_until`), and the key of the log keeps an event that both
-- find from being written twice.
alter table webhook_delivery
  add due_at timestamptz not null default now(),
  -- Comes after new events: part of a replay or of a long backlog.
  add bulk boolean not null default false,
  -- With claimed_until, a lease. Unique per claim, so it is the fence, too.
  add lease_owner uuid,
  -- Leases in a row that ended without a result.
  add orphaned smallint not null default 0;

-- Set while an endpoint's pending events are made due again after a pause: the place up to which they are.
alter table webhook_endpoint add resumed_place bigint;

-- How far the events of an account are written to the log: this page and all before it, up to `size`.
create table webhook_position (
  account_id text primary key references account on delete cascade,
  page bigint not null,
  size smallint not null
);

-- Before the events, so that those of pages written meanwhile are found twice rather than never.
insert into webhook_position (account_id, page, size)
select a.account_id, coalesce(p.page, 0), coalesce(p.size, 0)
from (select distinct account_id from webhook_endpoint) a
left join lateral (
  select page, size from account_event_page p where p.account_id = a.account_id order by page desc limit 1) p on true;

-- Events that the follower of 0.2 hasn't read although their pages may be written.
insert into webhook_delivery (account_id, endpoint_id, event_id, message_id, retention_days, kind, recipient, event_at, detail)
select f.account_id, w.id, f.event_id, f.message_id, f.retention_days, f.kind, f.recipient, f.at, f.detail
from (
  select account_id, id as event_id, id as message_id, retention_days, 'accepted' as kind, null::smallint as recipient,
    accepted_at as at, '{}'::json as detail, tx
  from message where tx >= (select min(tx) from feed_cursor where follower = 'webhook')
  union all
  select account_id, id, message_id, retention_days, kind, recipient, at, (detail::jsonb - 'transcript')::json, tx
  from message_event where tx >= (select min(tx) from feed_cursor where follower = 'webhook')) f
join webhook_endpoint w on w.account_id = f.account_id and f.kind = any (w.kinds)
order by f.tx, f.at, f.event_id
on conflict do nothing;

-- What waits for its next try keeps its time.
do $$ begin
  if to_regclass('graphile_worker._private_jobs') is not null then
    update webhook_delivery d set due_at = j.run_at
    from graphile_worker._private_jobs j
    where d.state = 'pending' and j.key = d.account_id || ' ' || d.endpoint_id || ' ' || d.message_id and j.run_at > now();
  end if;
end $$;
