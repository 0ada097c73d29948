import type { Database } from '../../src/foundation/database/open-database.ts';
import type { AccountId } from '../../src/foundation/ids.ts';
import type { BenchDatabase } from '../bench-database.ts';
import type { BenchProgram } from '../bench-program.ts';
import type { BenchResult } from '../bench-result.ts';
import { measureUse } from '../machine-use.ts';
import { type BenchSink, monotonicNow } from './bench-sink.ts';
import {
  fillWhilePaused,
  resumeAccount,
  waitForFollowers,
  waitUntilQueueEmpty,
} from './letter-account.ts';

/** An installation under measurement. */
export interface BenchInstallation {
  readonly database: BenchDatabase;
  readonly node: BenchProgram;
  readonly sink: BenchSink;
}

/** What emptying a queue came to. */
export interface ServiceRun {
  /** Messages a second. */
  readonly rate: number;
  /** For each message: the columns of the table that say what was used. */
  readonly use: Pick<BenchResult, 'service_us' | 'database_us' | 'load_us' | 'elsewhere_percent'>;
}

/**
 * Fills the queue while the workers are kept from it, lets them at it, and waits until every message is at the receiver and
 * every outcome is written.
 * @throws Error where a message ended as anything but delivered
 */
export async function measureService(
  { database: { database, pid }, node, sink }: BenchInstallation,
  accountId: AccountId,
  count: number,
): Promise<ServiceRun> {
  await fillWhilePaused(database, accountId, count);
  await database.pool.query('vacuum analyze queue_entry');
  await sink.reset();
  const pids = { service: node.pid, database: pid };
  const { result: rate, use } = await measureUse(pids, async () => {
    await resumeAccount(database, accountId);
    await sink.waitForCount(count);
    await waitUntilQueueEmpty(database);
    return rateSince(sink.first, count);
  });
  await requireDelivered(database, accountId);
  await waitForFollowers(database);
  if (use === undefined) return { rate, use: {} };
  const each = (seconds: number): number => Math.round((seconds * 1e6) / count);
  return {
    rate,
    use: {
      service_us: each(use.service),
      database_us: each(use.database),
      load_us: each(use.load),
      elsewhere_percent: Math.round(use.elsewhere * 100),
    },
  };
}

/** The run with the middle rate. */
export function medianRun(runs: readonly ServiceRun[]): ServiceRun {
  const sorted = [...runs].sort((one, other) => one.rate - other.rate);
  return sorted[Math.floor(sorted.length / 2)] ?? { rate: 0, use: {} };
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
