import type { Database } from '../foundation/database/open-database.ts';
import { scheduledReason } from '../message/scheduled-class.ts';
import { runQueueStatement } from './queue-statement-store.ts';

/** Entries per statement, to keep locks short. */
const chunkSize = 1_000;

/**
 * Fixes times written before the database clock stepped back, which are now too far ahead. Waiting entries become due
 * now, since their true delay is unknown, except scheduled ones; leases end at most one lease from now; held messages stay held. Covers all
 * accounts, since they share the clock.
 * @returns how many entries were changed
 */
export async function rescheduleAfterClockStep(
  database: Database,
  leaseMs: number,
): Promise<number> {
  let changed = 0;
  for (;;) {
    const { rowCount } = await runQueueStatement(database, {
      name: 'queue-forget-old-times',
      text: rescheduleStatement,
      values: [leaseMs],
    });
    changed += rowCount ?? 0;
    if ((rowCount ?? 0) < chunkSize) return changed;
  }
}

const rescheduleStatement = `
  with moment as materialized (
    select now() as now, now() + $1::float8 * interval '1 ms' as lease_end),
  late as materialized (
    select q.account_id, q.message_id from queue_entry q, moment
    where q.due_at < 'infinity' and q.reason is distinct from '${scheduledReason}'
      and q.due_at > case when q.lease_owner is null then moment.now else moment.lease_end end
    limit ${chunkSize} for update of q skip locked)
  update queue_entry q
  set due_at = case when q.lease_owner is null then moment.now else moment.lease_end end
  from late, moment
  where q.account_id = late.account_id and q.message_id = late.message_id`;
