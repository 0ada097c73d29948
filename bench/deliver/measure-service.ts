import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../src/base/database/open-database.ts';
import type { AccountId } from '../../src/base/values/ids.ts';
import { getToken, type Shop } from '../../test/support/shop.ts';
import { distinctValues } from '../bench-account.ts';
import type { BenchDatabase } from '../bench-database.ts';
import { type BenchResult, makeResult, median, percentiles } from '../bench-result.ts';
import { startServe } from '../bench-service.ts';
import { openClient } from '../http-client.ts';
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
/** Connections of each side to the sink; the service's processes share them. */
export const connections = 20 * processes;
/** Approximate messages per second of the service. */
export const messagesPerSecond = 2_000;

export type BenchInstallation = Awaited<ReturnType<typeof startDelivering>>;

/** Starts `serve` with the sink as its relay. */
export async function startDelivering(
  bench: BenchDatabase,
  sink: BenchSink,
  nodeOptions: readonly string[],
) {
  const node = await startServe(bench, {
    smtpUrl: sink.smtpUrl(connections / processes),
    nodeOptions,
  });
  return { database: bench.database, node, sink, [Symbol.asyncDispose]: node.stop };
}

/** Messages per second, and the resources of each. */
export type ServiceRun = Pick<BenchResult, 'rate'> & Partial<ReturnType<typeof usePerRequest>>;

/** From resuming a full queue until the sink has every message and every outcome is written. */
export async function measureService(
  { database, node, sink }: BenchInstallation,
  accountId: AccountId,
  count: number,
): Promise<ServiceRun> {
  await fillWhilePaused(database, accountId, count);
  await database.pool.query('vacuum analyze queued_delivery');
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

/** Messages per second since the first of `count` arrived. */
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

/** Sends letters one at a time. @returns the times from before each request to the final dot at the sink, after the warm-up */
export async function sendSingles(
  { node, sink }: BenchInstallation,
  shop: Shop,
  { count = 0, warmUp = 0, pauseMs = 0, seconds = Number.POSITIVE_INFINITY },
): Promise<number[]> {
  const ask = openClient(node.port);
  const authorization = `Bearer ${await getToken(node, shop)}`;
  const headers = { authorization, 'content-type': 'application/json' };
  const path = `/ete/v1/email/${shop.id}/t-0001`;
  const times: number[] = [];
  const until = monotonicNow() + seconds * 1_000;
  for (let number = 0; number < warmUp + count && monotonicNow() < until; number += 1) {
    const toAddress = `single-${shop.id}-${number}@example.test`;
    const body = JSON.stringify({
      envelope: { toAddress },
      content: { personalizationDataMap: distinctValues(1, 'letter') },
      metadata: { transactional: true },
      actions: { trackOpens: false, trackClicks: false },
    });
    const started = monotonicNow();
    const arrived = sink.waitForSingle(toAddress);
    const { status } = await ask({ path, headers, body });
    if (status !== 200) throw new Error(`a single message got ${status}`);
    const time = (await arrived) - started;
    if (number >= warmUp) times.push(time);
    await delay(pauseMs);
  }
  return times;
}

const idleMessages = 200;
const targetMs = 15;

/** Single messages on an idle service. */
export async function measureIdle(installation: BenchInstallation, shop: Shop) {
  const plan = { count: idleMessages, warmUp: 50, pauseMs: 20 };
  const { p50_ms, p99_ms } = percentiles(await sendSingles(installation, shop, plan));
  const params = { messages: idleMessages, target_ms: targetMs };
  const rates = { rate: 1_000 / p50_ms, ceiling: 1_000 / targetMs };
  return makeResult('deliver-idle', params, { ...rates, p50_ms, p99_ms });
}
