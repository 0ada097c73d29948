import { openBench, openLoad } from './bench-account.ts';
import { type BenchOptions, type BenchResult, makeResult, median } from './bench-result.ts';
import { BenchSink } from './deliver/bench-sink.ts';
import { openLetterAccount } from './deliver/letter-account.ts';
import { MemoryWatch } from './machine-use.ts';
import { loadConnections } from './tally.ts';

/** Resident memory of processes that accept at saturation and deliver. What each fifth held tells a slope from a step. */
export async function benchMemory({ minutes }: BenchOptions): Promise<BenchResult[]> {
  using sink = await BenchSink.start();
  const worker = { roles: 'http,worker', smtpUrl: sink.smtpUrl(10) };
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
