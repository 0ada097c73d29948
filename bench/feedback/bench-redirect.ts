import type { BenchProgram } from '../bench-program.ts';
import type { BenchOptions, BenchResult } from '../bench-result.ts';
import { startBenchService } from '../bench-service.ts';
import { LatencyHistogram } from '../latency-histogram.ts';
import { readProcessorTimes } from '../machine-use.ts';
import { runLoad } from '../run-load.ts';
import { browserGet, clickTrackingRequest, deliveredMessages } from './reader-requests.ts';
import { startThrowawayHistory } from './throwaway-history.ts';

const connections = 64;
// A message stores 50 clicks on one link, so there are enough of them for all.
const distinct = 10_000;

/**
 * Followed links a second beside a GET of the same server that redirects without looking, in turns. The service's processor
 * time for each is read from the kernel. Afterwards the service is stopped and its events are counted: one for each answer.
 */
export async function benchRedirect(options: BenchOptions): Promise<BenchResult[]> {
  await using history = await startThrowawayHistory(options.history ?? 10_000);
  const { database, shop } = history;
  const rows = await deliveredMessages(database, shop.id, distinct);
  await using service = await startBenchService(history.url, {
    nodeOptions: options.nodeOptions,
    processes: 1,
  });
  const ours = new RedirectTally();
  const nothing = new RedirectTally();
  const clicks = rows.map((row) => clickTrackingRequest(shop.id, row));
  const idle = clicks.map((_, index) => browserGet(`/bench/nothing/${'x'.repeat(150)}${index}`));
  // The first requests load code and the templates.
  await new RedirectTally().run(service, clicks, 2);
  const before = await countClicks(database.pool);
  for (let round = 0; round < options.rounds; round += 1) {
    await nothing.run(service, idle, options.seconds);
    await ours.run(service, clicks, options.seconds);
  }
  await service.stop();
  // Those of the warm-up may have been written before or after they were counted.
  const written = (await countClicks(database.pool)) - before;
  if (written < ours.answered)
    throw new Error(`${ours.answered} clicks were answered and ${written} written`);
  return [
    {
      name: 'redirect',
      params: {
        connections,
        cpu_ms: Number(ours.cpu.toFixed(3)),
        ceiling_cpu_ms: Number(nothing.cpu.toFixed(3)),
      },
      rate: Math.round(ours.rate),
      ceiling: Math.round(nothing.rate),
      ratio: ours.rate / nothing.rate,
      p50_ms: ours.latencies.quantile(0.5),
      p99_ms: ours.latencies.quantile(0.99),
    },
  ];
}

class RedirectTally {
  readonly latencies = new LatencyHistogram();
  answered = 0;
  #seconds = 0;
  #cpu = 0;

  async run(service: BenchProgram, requests: readonly string[], seconds: number): Promise<void> {
    const before = readCpuMs(service);
    const report = await runLoad({
      port: service.port,
      connections,
      seconds,
      requests,
    });
    const wrong = Object.keys(report.statuses).filter((status) => status !== '302');
    if (wrong.length > 0)
      throw new Error(`answers other than 302: ${JSON.stringify(report.statuses)}`);
    this.#cpu += readCpuMs(service) - before;
    this.answered += report.answered;
    this.#seconds += report.seconds;
    this.latencies.merge(report.latencies);
  }

  get rate(): number {
    return this.answered / this.#seconds;
  }

  /** Milliseconds for each answer, writing of events included. */
  get cpu(): number {
    return this.#cpu / this.answered;
  }
}

/** Milliseconds of processor time so far; 0 where the kernel does not tell. */
function readCpuMs({ pid }: BenchProgram): number {
  return (readProcessorTimes([pid])?.of[0] ?? 0) * 1_000;
}

async function countClicks(pool: {
  query(text: string): Promise<{ rows: { count: number }[] }>;
}): Promise<number> {
  const { rows } = await pool.query(
    `select count(*)::int as count from message_event where kind = 'clicked'`,
  );
  return rows[0]?.count ?? 0;
}
