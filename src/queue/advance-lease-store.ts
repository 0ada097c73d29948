import type { Database } from '../foundation/database/open-database.ts';
import { eventRow, eventRows, insertEvents } from '../message/write-events.ts';
import type { AttemptProgress } from './advance-attempt.ts';
import { runQueueStatement } from './queue-statement-store.ts';
import { recordRelayIds } from './relay-id-store.ts';

/**
 * Records the finished transactions of an attempt and the next one's recipients in one flushed statement under the
 * lease.
 * @returns false if the lease is no longer held and nothing was written
 */
export async function advanceLease(database: Database, advance: AttemptProgress): Promise<boolean> {
  const { message } = advance;
  await recordRelayIds(database, [advance]);
  const { rows } = await runQueueStatement(database, {
    name: 'queue-advance',
    text: advanceStatement,
    values: [
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
  with moment as materialized (select now() as now),
  kept as (
    update queue_entry q
    set stage = 'claimed', in_transaction = $6::smallint[],
      doubtful = nullif($9::smallint[], '{}'),
      -- Drops recipients that were erased meanwhile.
      pending = array(select r from unnest($5::smallint[]) as r where r = any (q.pending || q.held))
    from moment
    where q.account_id = $1 and q.message_id = $2 and q.lease_owner = $3::uuid and q.fence = $4::bigint
      and q.due_at > moment.now
    returning q.retention_days),
  stated as (
    update message m set state = $7, state_at = moment.now
    from kept, moment
    where $7::text is not null
      and m.account_id = $1 and m.id = $2 and m.retention_days = kept.retention_days),
  recorded as (
    ${insertEvents({
      accountId: '$1',
      messageId: '$2',
      retentionDays: 'kept.retention_days',
      id: 'event.id',
      at: 'moment.now',
      kind: { from: 'event.kind' },
      recipient: 'event.recipient',
      detail: 'event.detail',
    })}
    from ${eventRows('$8')}
    cross join kept cross join moment
    on conflict do nothing)
  select from kept`;
