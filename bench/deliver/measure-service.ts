import type { Database } from '../../src/foundation/database/open-database.ts';
import type { AccountId } from '../../src/foundation/ids.ts';
import { type BenchSink, monotonicNow } from './bench-sink.ts';
import { fillQueue } from './fill-queue.ts';
import {
  pauseAccount,
  resumeAccount,
  untilFollowersCaughtUp,
  untilQueueIsEmpty,
} from './installation.ts';

/**
 * Fills the queue while the workers are kept from it, lets them at it, and waits until every message is at the receiver and
 * every outcome is written.
 * @returns messages a second
 * @throws Error where a message ended as anything but delivered
 */
export async function measureService(
  database: Database,
  sink: BenchSink,
  accountId: AccountId,
  count: number,
): Promise<number> {
  await pauseAccount(database, accountId);
  await fillQueue(database, accountId, count);
  await untilFollowersCaughtUp(database);
  await database.pool.query('vacuum analyze queue_entry');
  await sink.reset();
  await resumeAccount(database, accountId);
  await sink.reaches(count);
  await untilQueueIsEmpty(database);
  const rate = rateSince(sink.first, count);
  await requireDelivered(database, accountId);
  await untilFollowersCaughtUp(database);
  return rate;
}

/** Messages a second, of so many from the first one at the receiver until now. */
export function rateSince(first: number, count: number): number {
  return ((count - 1) * 1_000) / (monotonicNow() - first);
}

/** A rate means nothing where messages were lost on the way. */
async function requireDelivered(database: Database, accountId: AccountId): Promise<void> {
  const { rows } = await database.pool.query<{ state: string; count: number }>(
    `select state, count(*)::int as count from message
     where account_id = $1 and state <> 'delivered' group by state`,
    [accountId],
  );
  if (rows.length > 0) throw new Error(`not delivered: ${JSON.stringify(rows)}`);
}
