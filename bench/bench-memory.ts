import { generateDkimKey } from '../src/sender/dkim-key.ts';
import { acceptRequests } from './bench-account.ts';
import { startBenchDatabase } from './bench-database.ts';
import type { BenchOptions, BenchResult } from './bench-result.ts';
import { startBenchService } from './bench-service.ts';
import { BenchSink } from './deliver/bench-sink.ts';
import { openLetterAccount } from './deliver/letter-account.ts';
import { readResident } from './machine-use.ts';
import { median } from './median.ts';
import { processTree } from './process-tree.ts';
import { runLoad } from './run-load.ts';
import { requireAllAccepted } from './tally.ts';

const connections = 128;
const sampleIntervalMs = 1_000;
const mebibyte = 2 ** 20;

/**
 * Resident memory of each process of `serve` that accepts at saturation and delivers what it accepted: the highest of all,
 * and by how much one of them grew at most from the second fifth of the time, when all is loaded, to the last, with what that
 * one held in each fifth, which tells a slope from a step.
 */
export async function benchMemory(options: BenchOptions): Promise<BenchResult[]> {
  await using database = await startBenchDatabase();
  using sink = await BenchSink.start();
  const shop = await openLetterAccount(database.database, await generateDkimKey('rsa-sha256'));
  const smtpUrl = `smtp://127.0.0.1:${sink.port}?tls=off&connections=10&messages=100000`;
  await using service = await startBenchService(database.url, { roles: 'http,worker', smtpUrl });
  const samples = new Map<number, number[]>();
  const timer = setInterval(() => {
    for (const [pid, bytes] of readResident(processTree(service.pid)))
      samples.set(pid, [...(samples.get(pid) ?? []), bytes / mebibyte]);
  }, sampleIntervalMs);
  try {
    const requests = await acceptRequests(service, shop);
    const seconds = options.minutes * 60;
    const report = await runLoad({
      port: service.port,
      connections,
      seconds,
      requests,
    });
    requireAllAccepted(report);
    const each = [...samples.values()];
    const growth = (sizes: readonly number[]) => fifth(sizes, 4) - fifth(sizes, 1);
    const [grown = []] = each.toSorted((one, other) => growth(other) - growth(one));
    return [
      {
        name: 'memory',
        params: {
          connections,
          minutes: options.minutes,
          processes: each.length,
          peak_mib: Math.round(Math.max(...each.flat())),
          growth_mib: Math.round(growth(grown)),
          fifths_mib: [0, 1, 2, 3, 4].map((place) => Math.round(fifth(grown, place))).join(),
          delivered: sink.taken,
        },
        rate: Math.round(report.answered / report.seconds),
        ceiling: 0,
        ratio: 0,
        p50_ms: 0,
        p99_ms: 0,
      },
    ];
  } finally {
    clearInterval(timer);
  }
}

/** The middle of one fifth of the samples, counted from 0. */
function fifth(sizes: readonly number[], number: number): number {
  const length = Math.floor(sizes.length / 5);
  return median(sizes.slice(number * length, (number + 1) * length));
}
