import { generateDkimKey } from '../src/sender/dkim-key.ts';
import { startBenchDatabase } from './bench-database.ts';
import { type BenchOptions, type BenchResult, makeResult, percentiles } from './bench-result.ts';
import { BenchSink, monotonicNow } from './deliver/bench-sink.ts';
import { fillWhilePaused, openLetterAccount, resumeAccount } from './deliver/letter-account.ts';
import { measureService, messagesPerSecond, startDelivering } from './deliver/measure-service.ts';
import { sendSingles } from './deliver/send-single.ts';
import { MemoryWatch } from './memory-watch.ts';

/** While one account's long queue drains: another account's single messages, the rate, and the memory of `serve`. */
export async function benchBacklog({
  queued,
  seconds,
  nodeOptions,
}: BenchOptions): Promise<BenchResult[]> {
  await using bench = await startBenchDatabase();
  const { database } = bench;
  using sink = await BenchSink.start();
  const key = await generateDkimKey('rsa-sha256');
  const large = await openLetterAccount(database, key, '46100');
  const small = await openLetterAccount(database, key, '46200');
  await using node = await startDelivering(bench, sink, nodeOptions);
  using memory = new MemoryWatch(node);
  const installation = { bench, node, sink };
  await measureService(installation, large.id, 4_000);
  const short = await measureService(
    installation,
    large.id,
    Math.round(seconds * messagesPerSecond),
  );
  const before = memory.readAndReset();
  await fillWhilePaused(database, large.id, queued);
  await sink.reset();
  await resumeAccount(database, large.id);
  await sink.waitForCount(1_000);
  const { taken } = sink;
  const started = monotonicNow();
  const plan = { count: queued, warmUp: 5, pauseMs: 100, seconds: seconds * 3 };
  const times = await sendSingles(node, sink, small, plan);
  const rate = ((sink.taken - taken) * 1_000) / (monotonicNow() - started);
  const during = memory.readAndReset();
  const rates = { rate, ceiling: short.rate };
  const memoryParams = {
    queued,
    short_queue_median_mb: Math.round(before.median),
    short_queue_peak_mb: Math.round(before.peak),
    median_mb: Math.round(during.median),
    peak_mb: Math.round(during.peak),
  };
  return [
    makeResult(
      'deliver-fair',
      { queued, singles: times.length },
      { ...rates, ...percentiles(times) },
    ),
    makeResult('deliver-memory', memoryParams, rates),
  ];
}
