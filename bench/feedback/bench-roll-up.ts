import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../src/foundation/database/open-database.ts';
import type { BenchOptions, BenchResult } from '../bench-result.ts';
import { startBenchService } from '../bench-service.ts';
import { percentile } from '../median.ts';
import { runLoad } from '../run-load.ts';
import { deliveredMessages, openTrackingRequest } from './reader-requests.ts';
import { startThrowawayHistory } from './throwaway-history.ts';

const perSecond = 2_000;
const limitSeconds = 5;

/**
 * How far reports are behind: opens come in evenly over HTTP, and the total of the report is read every quarter second. The
 * lag of a reading is the time since as many opens had been answered as the report shows then.
 */
export async function benchRollUp(options: BenchOptions): Promise<BenchResult[]> {
  await using history = await startThrowawayHistory(options.history ?? 20_000);
  const { database, shop } = history;
  const rows = await deliveredMessages(database, shop.id, 5_000);
  const requests = rows.map((row) => openTrackingRequest(shop.id, row));
  await using service = await startBenchService(history.url, {
    nodeOptions: options.nodeOptions,
    roles: 'http,worker',
    smtpUrl: 'smtp://127.0.0.1:9?tls=off',
  });
  const before = await countOpens(database);
  const seconds = Math.max(20, options.seconds * options.rounds);
  const readings: { at: number; opens: number }[] = [];
  const order = { port: service.port, connections: 16, seconds, requests };
  let running = true;
  const loading = runLoad({ ...order, rate: perSecond }).finally(() => {
    running = false;
  });
  while (running) {
    readings.push({ opens: (await countOpens(database)) - before, at: Date.now() });
    await delay(250);
  }
  const { answered, startedAt, seconds: took } = await loading;
  const rate = answered / took;
  const end = startedAt + took * 1_000;
  const lags = readings
    .filter(({ at }) => at > startedAt + 5_000 && at < end)
    .map(({ at, opens }) => at - startedAt - (opens * 1_000) / rate);
  const maxLagMs = Math.max(...lags);
  return [
    {
      name: 'rollup',
      params: { wanted: perSecond, highest_lag_ms: Math.round(maxLagMs) },
      rate: Math.round(rate),
      ceiling: perSecond,
      ratio: (limitSeconds * 1_000) / maxLagMs,
      p50_ms: percentile(lags, 0.5),
      p99_ms: percentile(lags, 0.99),
    },
  ];
}

async function countOpens({ pool }: Database): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `select coalesce(sum(opened_people + opened_machines), 0)::int as count from report_sum
     where span = 'day' and sum_of = 'all'`,
  );
  return rows[0]?.count ?? 0;
}
