import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Clock } from '../foundation/clock.ts';
import type { Log } from '../foundation/log.ts';
import type { RecordedEvents } from './settle-attempt.ts';

/** Database access for the gauges. */
export interface QueueSizes {
  readSize(): Promise<QueueSize>;
}

interface QueueSize {
  readonly entries: number;
  readonly oldestSeconds: number;
}

/**
 * Registers the queue's metrics. If the database can't report the queue size, its gauges have no value, since a zero
 * would mean an empty queue.
 * @returns callback for each recorded outcome
 */
export function registerQueueMetrics(
  registry: Registry,
  sizes: QueueSizes,
  clock: Clock,
  busy: () => number,
  log: Log,
): (recorded: RecordedEvents) => void {
  const registers = [registry];
  const readSize = shareReading(sizes, log);
  const gaugeOfSize = (name: string, help: string, read: (size: QueueSize) => number): void => {
    new Gauge({
      name,
      help,
      aggregator: 'max',
      registers,
      async collect() {
        const size = await readSize();
        if (size === undefined) this.remove();
        else this.set(read(size));
      },
    });
  };
  gaugeOfSize(
    'signalpost_queue_oldest_due_seconds',
    'How long the oldest due message has waited',
    (size) => size.oldestSeconds,
  );
  gaugeOfSize(
    'signalpost_queue_entries',
    'Messages in the queue; an estimate above 10,000',
    (size) => size.entries,
  );
  new Gauge({
    name: 'signalpost_worker_busy',
    help: 'Messages that this process is sending',
    registers,
    collect() {
      this.set(busy());
    },
  });
  const outcomes = new Counter({
    name: 'signalpost_delivery_outcomes_total',
    help: 'Outcomes of attempts, per recipient',
    labelNames: ['outcome'] as const,
    registers,
  });
  const latency = new Histogram({
    name: 'signalpost_delivery_latency_seconds',
    help: 'Time from acceptance by the service to acceptance by the receiving server',
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600],
    registers,
  });
  return (recorded) => {
    for (const event of recorded.events) {
      if (event.recipient === null) continue;
      outcomes.inc({ outcome: event.kind });
      if (event.kind === 'delivered' && event.recipient === 0) {
        latency.observe(Math.max(0, clock.now() - recorded.message.acceptedAt.getTime()) / 1_000);
      }
    }
  };
}

/** Shares one reading among gauges collected at the same time; undefined if it is unavailable. */
function shareReading(sizes: QueueSizes, log: Log): () => Promise<QueueSize | undefined> {
  let reading: Promise<QueueSize | undefined> | undefined;
  return () => {
    reading ??= sizes
      .readSize()
      .catch((error: unknown) => {
        log.warn({ err: error }, 'could not read the queue size for the metrics');
        return undefined;
      })
      .finally(() => {
        reading = undefined;
      });
    return reading;
  };
}
