import type { Clock } from '../foundation/clock.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { AttemptProgress } from './advance-attempt.ts';
import { eventRow } from './event-detail.ts';
import { runQueueStatement } from './queue-statement-store.ts';

/**
 * Records the finished transactions of an attempt and the next one's recipients in one flushed statement under the
 * lease.
 * @returns false if the lease is no longer held and nothing was written
 */
export async function advanceLease(
  database: Database,
  clock: Clock,
  advance: AttemptProgress,
): Promise<boolean> {
  const { message } = advance;
  const { rows } = await runQueueStatement(database, {
    name: 'queue-advance',
    text: advanceStatement,
    values: [
      clock.offset,
      message.accountId,
      message.messageId,
      message.owner,
      message.fence,
      advance.pending,
      advance.next,
      advance.state ?? null,
      `[${advance.events.map((event) => eventRow(event)).join(',')}]`,
      advance.doubtful,
    ],
  });
  return rows.length === 1;
}

const advanceStatement = `
  with moment as materialized (select now() + $1::float8 * interval '1 ms' as now),
  kept as (
    update queue_entry q
    set stage = 'claimed', in_transaction = $7::smallint[],
      doubtful = nullif($10::smallint[], '{}'),
      -- Who was erased meanwhile waits no more.
      pending = array(select r from unnest($6::smallint[]) as r where r = any (q.pending || q.held))
    from moment
    where q.account_id = $2 and q.message_id = $3 and q.lease_owner = $4::uuid and q.fence = $5::bigint
      and q.due_at > moment.now
    returning q.retention_days),
  stated as (
    update message m set state = $8, state_at = moment.now
    from kept, moment
    where $8::text is not null
      and m.account_id = $2 and m.id = $3 and m.retention_days = kept.retention_days),
  recorded as (
    insert into message_event (account_id, message_id, retention_days, id, at, kind, recipient, detail)
    select $2, $3, kept.retention_days, event.id, moment.now, event.kind, event.recipient, event.detail
    from json_to_recordset($9::json) as event (id uuid, kind text, recipient smallint, detail json)
    cross join kept cross join moment)
  select from kept`;
