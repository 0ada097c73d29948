import type { Database } from '../../base/database/open-database.ts';
import type { AccountId } from '../../base/values/ids.ts';
import { recipientDomain } from '../../content/message/message-sql.ts';
import { runQueueStatement } from './queue-statement-store.ts';

/** Due messages of one kind that can be deferred together instead of one at a time. */
export interface Backlog {
  readonly accountId: AccountId;
  /** Lowercase A-label domain of their recipients. */
  readonly domain: string;
  readonly transactional: boolean;
  /** Milliseconds until the first is due again, and between each and the next. */
  readonly after: number;
  readonly spacing: number;
  /** Max delay in milliseconds. Messages that would exceed it get a random time in the second half of this period. */
  readonly until: number;
  /** Shown to users. `nextTimePlaceholder` in it is replaced by each message's own time. */
  readonly reason: string;
}

/** Placeholder for the next attempt's time in a backlog's reason. */
export const nextTimePlaceholder = '%next%';

/** Due messages per statement, to keep locks short. */
const chunkSize = 5_000;

/**
 * Assigns next attempt times to a backlog's unclaimed due messages, in due order, without claiming each one. Not flushed:
 * changes lost in a crash are simply made again.
 * @returns how many were deferred, and whether all due messages were scanned
 */
export async function deferDueMessages(
  database: Database,
  backlog: Backlog,
): Promise<{ readonly all: boolean; readonly changed: number }> {
  const { rows } = await runQueueStatement<{ seen: number; changed: number }>(database, {
    name: 'queue-put-off',
    text: deferStatement,
    values: [
      backlog.accountId,
      backlog.transactional ? priorities.transactional : priorities.other,
      backlog.domain,
      backlog.after,
      backlog.spacing,
      backlog.until,
      backlog.reason.toWellFormed().replaceAll('\0', '').slice(0, 1_000),
    ],
  });
  const { seen = 0, changed = 0 } = rows[0] ?? {};
  return { all: seen < chunkSize, changed };
}

// As in a claim, the limited lateral join keeps the planner at one index lookup per message, in its `retention_days`
// partition.
const deferStatement = `
  with moment as materialized (
    select now() as now
    where set_config('synchronous_commit', 'off', true) is not null),
  due as materialized (
    select q.message_id, q.recipient, q.retention_days, q.due_at from queued_delivery q
    where q.account_id = $1 and q.priority = $2 and q.due_at <= (select now from moment)
    order by q.due_at limit ${chunkSize}),
  alike as materialized (
    select due.message_id, due.recipient, row_number() over (order by due.due_at) as place
    from due cross join lateral (
      select from message m
      where m.account_id = $1 and m.id = due.message_id and m.retention_days = due.retention_days
        and ${recipientDomain('m', 'due.recipient')} = $3
      limit 1) m),
  free as materialized (
    select q.message_id, q.recipient, alike.place
    from queued_delivery q join alike using (message_id, recipient) cross join moment
    where q.account_id = $1 and q.lease_owner is null and not q.paused and not q.canceled and q.expires_at > moment.now
    for update of q skip locked),
  timed as materialized (
    select message_id, recipient, case
      when $4::float8 + place * $5::float8 <= $6::float8 then $4::float8 + place * $5::float8
      else greatest($4::float8, $6::float8 * (0.5 + random() / 2)) end as wait
    from free),
  changed as (
    update queued_delivery q
    set due_at = least(q.expires_at, moment.now + timed.wait * interval '1 ms'),
      reason = replace($7, '${nextTimePlaceholder}',
        to_char((moment.now + timed.wait * interval '1 ms') at time zone 'utc',
          case when timed.wait < 60000 then 'HH24:MI:SS' else 'HH24:MI' end))
    from timed, moment
    where q.account_id = $1 and q.message_id = timed.message_id and q.recipient = timed.recipient and q.lease_owner is null
    returning 1)
  select (select count(*) from due)::int as seen, (select count(*) from changed)::int as changed`;

/** Values of `queued_delivery.priority`: transactional messages go first within their account. */
const priorities = { transactional: 0, other: 1 } as const;
