import { LatencyHistogram } from './latency-histogram.ts';
import type { LoadReport } from './load-generator.ts';
import { type MachineUse, measureCalm, measureUse } from './machine-use.ts';

/** What one route did over all rounds. */
export class Tally {
  readonly latencies = new LatencyHistogram();
  #answered = 0;
  #seconds = 0;
  #service = 0;
  #database = 0;
  #load = 0;
  #elsewhere = 0;

  /** Adds a measurement; one that others disturbed is made again, as `measureCalm` says. */
  async measure(
    calm: number | undefined,
    pids: Parameters<typeof measureUse>[0],
    run: () => Promise<LoadReport>,
  ): Promise<void> {
    const { result, use } = await measureCalm(calm, () => measureUse(pids, run));
    this.add(result, use);
  }

  /** @throws where an answer was no 200 */
  add(report: LoadReport, use: MachineUse | undefined): void {
    requireAllAccepted(report);
    this.#answered += report.answered;
    this.#seconds += report.seconds;
    this.#service += use?.service ?? 0;
    this.#database += use?.database ?? 0;
    this.#load += use?.load ?? 0;
    this.#elsewhere += (use?.elsewhere ?? 0) * report.seconds;
    this.latencies.merge(report.latencies);
  }

  get rate(): number {
    return this.#answered / this.#seconds;
  }

  /** Microseconds of the processors for each request. */
  get cost(): { readonly service: number; readonly database: number; readonly load: number } {
    const each = 1_000_000 / this.#answered;
    return {
      service: Math.round(this.#service * each),
      database: Math.round(this.#database * each),
      load: Math.round(this.#load * each),
    };
  }

  /** Share of the machine that others took. */
  get elsewhere(): number {
    return this.#elsewhere / this.#seconds;
  }
}

export function requireAllAccepted({ statuses }: LoadReport): void {
  const wrong = Object.keys(statuses).filter((status) => status !== '200');
  if (wrong.length > 0) throw new Error(`answers other than 200: ${JSON.stringify(statuses)}`);
}

/** The members of a result that two sides in turns give. */
export function compare(ours: Tally, ceiling: Tally) {
  return {
    rate: Math.round(ours.rate),
    ceiling: Math.round(ceiling.rate),
    ratio: Number((ours.rate / ceiling.rate).toFixed(3)),
    p50_ms: ours.latencies.quantile(0.5),
    p99_ms: ours.latencies.quantile(0.99),
    ceiling_p50_ms: ceiling.latencies.quantile(0.5),
    ceiling_p99_ms: ceiling.latencies.quantile(0.99),
    service_us: ours.cost.service,
    database_us: ours.cost.database,
    load_us: ours.cost.load,
    ceiling_us: ceiling.cost.service,
    elsewhere_percent: Math.round(Math.max(ours.elsewhere, ceiling.elsewhere) * 100),
  };
}
