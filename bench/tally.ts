import type { BenchOptions, BenchResult } from './bench-result.ts';
import type { BenchService } from './bench-service.ts';
import { LatencyHistogram } from './latency-histogram.ts';
import { type LoadOrder, type LoadReport, runLoad } from './load-generator.ts';
import { type MachineUse, measureUse, usePerRequest } from './machine-use.ts';

/** Connections of a benchmark that doesn't vary them. */
export const loadConnections = 128;
const maxMeasurements = 10;

/** One kind of load on a service, and its results over all rounds. */
export class LoadTally {
  readonly #service: BenchService;
  readonly #order: Omit<LoadOrder, 'port' | 'seconds'>;
  readonly #expected: string;
  readonly #latencies = new LatencyHistogram();
  readonly #use = { service: 0, database: 0, load: 0, elsewhere: 0 };
  #answered = 0;
  #seconds = 0;
  /** Responses of every run, including unmeasured ones. */
  totalAnswered = 0;

  constructor(
    service: BenchService,
    { connections = loadConnections, ...order }: Partial<LoadOrder> & Pick<LoadOrder, 'requests'>,
    expectedStatus = '200',
  ) {
    this.#service = service;
    this.#order = { connections, ...order };
    this.#expected = expectedStatus;
  }

  /** A run that isn't measured. @throws if a response has an unexpected status */
  async run(seconds: number): Promise<LoadReport> {
    const report = await runLoad({ ...this.#order, port: this.#service.port, seconds });
    if (Object.keys(report.statuses).some((status) => status !== this.#expected))
      throw new Error(`not only ${this.#expected}: ${JSON.stringify(report.statuses)}`);
    this.totalAnswered += report.answered;
    return report;
  }

  /** Repeats a run in which other programs used more of the machine than `calm`, up to ten times; the calmest counts. */
  async measure(
    { seconds, calm = Number.POSITIVE_INFINITY }: Pick<BenchOptions, 'seconds' | 'calm'>,
    prepare: () => Promise<void> = async () => undefined,
  ): Promise<void> {
    let calmest: { readonly result: LoadReport; readonly use: MachineUse } | undefined;
    for (let made = 0; made < maxMeasurements; made += 1) {
      await prepare();
      const measured = await measureUse(this.#service.pids, () => this.run(seconds));
      const { elsewhere } = measured.use;
      if (calmest === undefined || elsewhere < calmest.use.elsewhere) calmest = measured;
      if (elsewhere <= calm) break;
    }
    if (calmest !== undefined) this.#add(calmest.result, calmest.use);
  }

  get rate(): number {
    return this.#answered / this.#seconds;
  }

  get result() {
    return {
      rate: this.rate,
      ...this.#latencies.percentiles,
      ...usePerRequest(this.#use, this.#answered),
      elsewhere_percent: Math.round((this.#use.elsewhere * 100) / this.#seconds),
    };
  }

  #add({ answered, seconds, latencies }: LoadReport, use: MachineUse): void {
    this.#answered += answered;
    this.#seconds += seconds;
    this.#latencies.merge(latencies);
    for (const part of ['service', 'database', 'load'] as const) this.#use[part] += use[part];
    this.#use.elsewhere += use.elsewhere * seconds;
  }
}

/**
 * Measures loads alternately, after a warm-up of those that haven't run yet. They swap places, because the last one in a
 * round meets the most messages.
 */
export async function takeTurns(
  sides: readonly LoadTally[],
  options: Pick<BenchOptions, 'seconds' | 'rounds' | 'calm'>,
): Promise<void> {
  for (const side of sides) if (side.totalAnswered === 0) await side.run(options.seconds / 2);
  for (let round = 0; round < options.rounds; round += 1)
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) await side.measure(options);
}

/** The fields of a result that measures a load beside its ceiling. */
export function compare(ours: LoadTally, ceiling: LoadTally): Omit<BenchResult, 'name' | 'params'> {
  const [own, other] = [ours.result, ceiling.result];
  return {
    ...own,
    ceiling: other.rate,
    ratio: Number((own.rate / other.rate).toFixed(3)),
    ceiling_p50_ms: other.p50_ms,
    ceiling_p99_ms: other.p99_ms,
    ceiling_us: other.service_us,
    elsewhere_percent: Math.max(own.elsewhere_percent, other.elsewhere_percent),
  };
}
