import { type Bench, noOpPath, openBench, openLoad } from './bench-account.ts';
import { type BenchOptions, type BenchResult, makeResult, median } from './bench-result.ts';
import { BenchSink } from './deliver/bench-sink.ts';
import { fillWhilePaused, openLetterAccount, resumeAccount } from './deliver/letter-account.ts';
import { MemoryWatch } from './machine-use.ts';
import { compare, type LoadTally, loadConnections } from './tally.ts';

/** More than the workers deliver, so that the queue lasts as long as a measurement. */
const queuedPerSecond = 3_000;

/** Accepting at fixed shares of the saturated rate, beside a no-op POST at the same rate. */
export async function benchLatency(options: BenchOptions): Promise<BenchResult[]> {
  await using bench = await openBench({ nodeOptions: options.nodeOptions });
  return await measureLatency('latency', [0.25, 0.5, 0.75], options, bench);
}

/** The same in processes that also deliver a long queue. */
export async function benchTogether(options: BenchOptions): Promise<BenchResult[]> {
  using sink = await BenchSink.start();
  const { nodeOptions } = options;
  const worker = { worker: true, smtpUrl: sink.smtpUrl(10), nodeOptions };
  await using bench = await openBench(worker, openLetterAccount);
  return await measureLatency('together', [0.5], options, bench, sink);
}

/** Resolves once the workers are busy with a new queue that search and reports have seen. */
async function beginDelivery({ database, shop }: Bench, sink: BenchSink, count: number) {
  await fillWhilePaused(database, shop.id, count);
  await database.pool.query('vacuum analyze');
  const { taken } = sink;
  await resumeAccount(database, shop.id);
  await sink.waitForCount(taken + 100);
}

/** @param sink undefined: nothing is delivered */
async function measureLatency(
  name: string,
  shares: readonly number[],
  options: BenchOptions,
  bench: Bench,
  sink?: BenchSink,
): Promise<BenchResult[]> {
  const { seconds } = options;
  /** @returns messages delivered per second in that time */
  const measure = async (tally: LoadTally): Promise<number> => {
    let taken = 0;
    let started = 0;
    await tally.measure(options, async () => {
      if (sink !== undefined) await beginDelivery(bench, sink, seconds * queuedPerSecond);
      taken = sink?.taken ?? 0;
      started = performance.now();
    });
    return (((sink?.taken ?? 0) - taken) * 1_000) / (performance.now() - started);
  };
  const measureAt = async (at: string, rounds: number, rate?: number) => {
    const ours = openLoad(bench, { rate });
    const nothing = openLoad(bench, { rate, path: noOpPath });
    let [own, meanwhile] = [0, 0];
    for (let round = 0; round < rounds; round += 1) {
      meanwhile += await measure(nothing);
      own += await measure(ours);
    }
    const params = {
      ...{ connections: loadConnections, fields: 10, seconds, rounds, at },
      ...(sink !== undefined && {
        delivered_per_second: Math.round(own / rounds),
        ceiling_delivered_per_second: Math.round(meanwhile / rounds),
      }),
    };
    return { params, saturatedRate: ours.rate, line: compare(ours, nothing) };
  };
  await measure(openLoad(bench));
  const { params, saturatedRate, line } = await measureAt('saturation', 1);
  const results = [makeResult(name, params, line)];
  for (const share of shares) {
    const rate = saturatedRate * share;
    const { params, line } = await measureAt(`${share * 100}%`, options.rounds, rate);
    const ratio = Number((line.p99_ms / (line.ceiling_p99_ms ?? 0)).toFixed(2));
    results.push(makeResult(name, params, { ...line, ratio }));
  }
  return results;
}

/** Resident memory of processes that accept at saturation and deliver. The fifths distinguish steady growth from a step. */
export async function benchMemory({ minutes }: BenchOptions): Promise<BenchResult[]> {
  using sink = await BenchSink.start();
  const worker = { worker: true, smtpUrl: sink.smtpUrl(10) };
  await using bench = await openBench(worker, openLetterAccount);
  const load = openLoad(bench);
  using memory = new MemoryWatch(bench.service);
  const { answered, seconds } = await load.run(minutes * 60);
  const samples = memory.byProcess();
  const fifths = samples.map((sizes) => [0, 1, 2, 3, 4].map((number) => fifth(sizes, number)));
  const growth = ([, second = 0, , , last = 0]: readonly number[]) => last - second;
  const [grown = []] = fifths.toSorted((a, b) => growth(b) - growth(a));
  const params = {
    connections: loadConnections,
    minutes,
    processes: samples.length,
    peak_mib: Math.round(Math.max(...samples.map((sizes) => Math.max(...sizes)))),
    growth_mib: Math.round(growth(grown)),
    fifths_mib: grown.map(Math.round).join(),
    delivered: sink.taken,
  };
  return [makeResult('memory', params, { rate: answered / seconds })];
}

/** The median of one fifth of the samples. */
function fifth(sizes: readonly number[], number: number): number {
  const length = Math.floor(sizes.length / 5);
  return median(sizes.slice(number * length, (number + 1) * length));
}
