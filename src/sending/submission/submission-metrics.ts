import { Counter, Histogram, type Registry } from 'prom-client';
import { metricOptions } from '../../base/telemetry/metrics-table.ts';
import { registerGauge } from '../../base/telemetry/register-gauge.ts';
import type { FaultCode } from '../../base/values/errors.ts';

/** Errors whose cause is the service. */
const serviceFaults: readonly FaultCode[] = ['IO_EXCEPTION', 'INTERNAL_ERROR'];

/** Send operation metrics for `/metrics`. */
export type SubmissionMetrics = ReturnType<typeof createSubmissionMetrics>;

/** @param waiting returns how many requests wait for a commit */
export function createSubmissionMetrics(registry: Registry, waiting: () => number) {
  const accepted = new Counter(metricOptions('signalpost_send_accepted_total', registry));
  const refused = new Counter(metricOptions('signalpost_send_refused_total', registry));
  // An increase from nothing isn't visible to Prometheus, and one of these is an alert.
  for (const error of serviceFaults) refused.inc({ error }, 0);
  const seconds = new Histogram(metricOptions('signalpost_send_accept_seconds', registry));
  const batchRows = new Histogram(metricOptions('signalpost_send_batch_rows', registry));
  registerGauge(registry, 'signalpost_send_waiting', waiting);
  return {
    /** @param milliseconds from the first byte of the request to the response */
    accepted(milliseconds: number): void {
      accepted.inc();
      seconds.observe(milliseconds / 1000);
    },
    acceptedInBatch: () => accepted.inc(),
    refused: (error: FaultCode) => refused.inc({ error }),
    batch: (rows: number) => batchRows.observe(rows),
  };
}
