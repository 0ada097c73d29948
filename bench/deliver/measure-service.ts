import { availableParallelism } from 'node:os';
import type { Database } from '../../src/foundation/database/open-database.ts';
import type { AccountId } from '../../src/foundation/ids.ts';
import type { BenchDatabase } from '../bench-database.ts';
import { type BenchResult, median } from '../bench-result.ts';
import { type BenchService, startServe } from '../bench-service.ts';
import { measureUse, usePerRequest } from '../machine-use.ts';
import { type BenchSink, monotonicNow } from './bench-sink.ts';
import {
  fillWhilePaused,
  resumeAccount,
  waitForFollowers,
  waitUntilQueueEmpty,
} from './letter-account.ts';

/** As many as `serve` starts. */
export const processes = availableParallelism();
/** To the sink, of each side together; the service's processes share them. */
export const connections = 20 * processes;
/** What the service delivers a second, about. */
export const messagesPerSecond = 2_000;

export interface BenchInstallation {
  readonly bench: BenchDatabase;
  readonly node: BenchService;
  readonly sink: BenchSink;
}

/** Starts `serve` with the sink as its relay. */
export function startDelivering(
  bench: BenchDatabase,
  sink: BenchSink,
  nodeOptions: readonly string[],
): Promise<BenchService> {
  return startServe(bench, sink.smtpUrl(connections / processes), nodeOptions);
}

/** Messages a second, and what each used. */
export type ServiceRun = Pick<BenchResult, 'rate'> & Partial<ReturnType<typeof usePerRequest>>;

/** From resuming a full queue until the sink has every message and every outcome is written. */
export async function measureService(
  { bench: { database }, node, sink }: BenchInstallation,
  accountId: AccountId,
  count: number,
): Promise<ServiceRun> {
  await fillWhilePaused(database, accountId, count);
  await database.pool.query('vacuum analyze queue_entry');
  await sink.reset();
  const { result: rate, use } = await measureUse(node.pids, async () => {
    await resumeAccount(database, accountId);
    await sink.waitForCount(count);
    await waitUntilQueueEmpty(database);
    return rateSince(sink.first, count);
  });
  await requireDelivered(database, accountId);
  await waitForFollowers(database);
  return { rate, ...usePerRequest(use, count) };
}

export function medianRun(runs: readonly ServiceRun[]): ServiceRun {
  const rate = median(runs.map((run) => run.rate));
  return runs.find((run) => run.rate === rate) ?? { rate };
}

/** Messages a second, of so many since the first one came. */
export function rateSince(first: number, count: number): number {
  return ((count - 1) * 1_000) / (monotonicNow() - first);
}

async function requireDelivered({ pool }: Database, accountId: AccountId): Promise<void> {
  const { rows } = await pool.query(
    `select state, count(*)::int as count from message
     where account_id = $1 and state <> 'delivered' group by state`,
    [accountId],
  );
  if (rows.length > 0) throw new Error(`not delivered: ${JSON.stringify(rows)}`);
}
