import { setTimeout as delay } from 'node:timers/promises';
import { generateDkimKey } from '../src/sender/dkim-key.ts';
import { getToken, type Shop } from '../test/support/shop.ts';
import { startBenchDatabase } from './bench-database.ts';
import type { BenchProgram } from './bench-program.ts';
import type { BenchOptions, BenchResult } from './bench-result.ts';
import { connections, processes } from './deliver/bench-connections.ts';
import { BenchSink, monotonicNow } from './deliver/bench-sink.ts';
import { fillWhilePaused, openLetterAccount, resumeAccount } from './deliver/letter-account.ts';
import { measureService } from './deliver/measure-service.ts';
import { MemoryWatch } from './deliver/memory-watch.ts';
import { sendSingle } from './deliver/send-single.ts';
import { startServe } from './deliver/start-serve.ts';
import { median, percentile } from './median.ts';

/** Between two single messages of the other account. */
const pauseMs = 100;

/**
 * A million queued messages of one account: another account's single messages, from before the request to the final dot,
 * while the million drains; the rate beside that of a short queue; and the memory of all processes of `serve`.
 */
export async function benchBacklog(options: BenchOptions): Promise<BenchResult[]> {
  const { queued } = options;
  await using bench = await startBenchDatabase();
  const { database, url } = bench;
  using sink = await BenchSink.start();
  const key = await generateDkimKey('rsa-sha256');
  const flood = await openLetterAccount(database, key, '46100');
  const small = await openLetterAccount(database, key, '46200');
  await using node = await startServe(url, sink.port, connections / processes, options.nodeOptions);
  using memory = new MemoryWatch(node);
  const token = await getToken(node, small);
  const installation = { database: bench, node, sink };
  await measureService(installation, flood.id, 4_000);
  const short = await measureService(installation, flood.id, Math.round(options.seconds * 2_000));
  const before = memory.readAndReset();
  await fillWhilePaused(database, flood.id, queued);
  await sink.reset();
  await resumeAccount(database, flood.id);
  await sink.waitForCount(1_000);
  const taken = sink.taken;
  const started = monotonicNow();
  const times = await sendSingles(node, sink, small, token, options.seconds * 3);
  const rate = ((sink.taken - taken) * 1_000) / (monotonicNow() - started);
  const during = memory.readAndReset();
  const row = {
    rate: Math.round(rate),
    ceiling: Math.round(short.rate),
    ratio: rate / short.rate,
  };
  return [
    {
      name: 'deliver-fair',
      params: { queued, singles: times.length },
      ...row,
      p50_ms: median(times),
      p99_ms: percentile(times, 0.99),
    },
    {
      name: 'deliver-memory',
      params: {
        queued,
        short_queue_median_mb: Math.round(before.median),
        short_queue_peak_mb: Math.round(before.peak),
        median_mb: Math.round(during.median),
        peak_mb: Math.round(during.peak),
      },
      ...row,
      p50_ms: 0,
      p99_ms: 0,
    },
  ];
}

/** One after the other for so many seconds; the first ones let the service load the account. */
async function sendSingles(
  node: BenchProgram,
  sink: BenchSink,
  shop: Shop,
  token: string,
  seconds: number,
): Promise<number[]> {
  const times: number[] = [];
  const until = monotonicNow() + seconds * 1_000;
  for (let number = 0; monotonicNow() < until; number += 1) {
    const address = `single-fair-${number}@example.test`;
    const started = monotonicNow();
    const arrived = sink.waitForSingle(address);
    await sendSingle(node.url, shop.id, token, address);
    const time = (await arrived) - started;
    if (number >= 5) times.push(time);
    await delay(pauseMs);
  }
  return times;
}
