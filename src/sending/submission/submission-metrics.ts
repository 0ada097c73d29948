import { Counter, Histogram, type Registry } from 'prom-client';
import { metricOptions } from '../../base/telemetry/metrics-table.ts';
import { registerGauge } from '../../base/telemetry/register-gauge.ts';
import type { FaultCode } from '../../base/values/errors.ts';

/** Errors whose cause is the service. */
const serviceFaults: readonly FaultCode[] = ['IO_EXCEPTION', 'INTERNAL_ERROR'];

/** Send operation metrics for `/metrics`. */
export class SubmissionMetrics {
  readonly #accepted: Counter;
  readonly #refused: Counter;
  readonly #seconds: Histogram;
  readonly #batch: Histogram;

  /** @param waiting returns how many requests wait for a commit */
  constructor(registry: Registry, waiting: () => number) {
    this.#accepted = new Counter(metricOptions('signalpost_send_accepted_total', registry));
    this.#refused = new Counter(metricOptions('signalpost_send_refused_total', registry));
    // An increase from nothing isn't visible to Prometheus, and one of these is an alert.
    for (const error of serviceFaults) this.#refused.inc({ error }, 0);
    this.#seconds = new Histogram(metricOptions('signalpost_send_accept_seconds', registry));
    this.#batch = new Histogram(metricOptions('signalpost_send_batch_rows', registry));
    registerGauge(registry, 'signalpost_send_waiting', waiting);
  }

  /** @param milliseconds from the first byte of the request to the response */
  accepted(milliseconds: number): void {
    this.#accepted.inc();
    this.#seconds.observe(milliseconds / 1000);
  }

  acceptedInBatch(): void {
    this.#accepted.inc();
  }

  refused(error: FaultCode): void {
    this.#refused.inc({ error });
  }

  batch(rows: number): void {
    this.#batch.observe(rows);
  }
}
