import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { FaultCode } from '../foundation/errors.ts';

/** Send operation metrics for `/metrics`. */
export class SubmissionMetrics {
  readonly #accepted: Counter;
  readonly #refused: Counter<'error'>;
  readonly #seconds: Histogram;
  readonly #batch: Histogram;

  /** @param waiting returns how many requests wait for a commit */
  constructor(registry: Registry, waiting: () => number) {
    const registers = [registry];
    this.#accepted = new Counter({
      name: 'signalpost_send_accepted_total',
      help: 'Requests of the send operation answered with 200, and messages of batches',
      registers,
    });
    this.#refused = new Counter({
      name: 'signalpost_send_refused_total',
      help: 'Requests of the send operation answered with an error, and messages of batches, by its name',
      labelNames: ['error'],
      registers,
    });
    this.#seconds = new Histogram({
      name: 'signalpost_send_accept_seconds',
      help: 'Time from the first byte of an accepted request to its response',
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
      registers,
    });
    this.#batch = new Histogram({
      name: 'signalpost_send_batch_rows',
      help: 'Messages that shared one commit',
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
      registers,
    });
    new Gauge({
      name: 'signalpost_send_waiting',
      help: 'Requests waiting for a commit',
      registers,
      collect() {
        this.set(waiting());
      },
    });
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
