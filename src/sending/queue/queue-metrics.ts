import { Counter, Histogram, type Registry } from 'prom-client';
import type { Database } from '../../base/database/open-database.ts';
import { metricOptions } from '../../base/telemetry/metrics-table.ts';
import { registerGauge } from '../../base/telemetry/register-gauge.ts';
import { shareReading } from '../../base/telemetry/shared-reading.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { Log } from '../../base/values/log.ts';
import { outcomeKinds } from '../../content/message/event-kinds.ts';
import type { EventDraft } from '../../content/message/write-events.ts';
import { readQueueSize } from './queue-size-store.ts';
import type { RecordedEvents } from './settle-attempt.ts';

/**
 * Registers the queue's metrics. If the database can't report the queue size, its gauges have no value, since a zero
 * would mean an empty queue.
 * @returns callback for each recorded outcome
 */
export function registerQueueMetrics(
  registry: Registry,
  database: Database,
  clock: Clock,
  busy: () => number,
  log: Log,
): (recorded: RecordedEvents) => void {
  const readSize = shareReading(() => readQueueSize(database), { what: 'the queue size', log });
  registerGauge(
    registry,
    'signalpost_queue_oldest_due_seconds',
    async () => (await readSize())?.oldestSeconds,
  );
  registerGauge(registry, 'signalpost_queue_entries', async () => (await readSize())?.entries);
  registerGauge(registry, 'signalpost_database_up', async () =>
    Number((await readSize()) !== undefined),
  );
  registerGauge(registry, 'signalpost_worker_busy', busy);
  const countOutcome = registerOutcomes(registry);
  const latency = new Histogram(metricOptions('signalpost_delivery_latency_seconds', registry));
  return (recorded) => {
    for (const event of recorded.events) {
      if (event.recipient === null) continue;
      countOutcome(event);
      if (event.kind === 'delivered' && event.recipient === 0) {
        latency.observe(Math.max(0, clock.now() - recorded.message.acceptedAt.getTime()) / 1_000);
      }
    }
  };
}

/** Counts outcomes by receiver. A receiver has all outcomes from the start, so that shares and increases are known. */
function registerOutcomes(registry: Registry): (event: EventDraft) => void {
  const outcomes = new Counter(metricOptions('signalpost_delivery_outcomes_total', registry));
  const known = new Set<string>();
  const add = (receiver: string): void => {
    if (known.has(receiver)) return;
    known.add(receiver);
    for (const outcome of outcomeKinds) outcomes.inc({ outcome, receiver }, 0);
  };
  add('none');
  add('other');
  return (event) => {
    const receiver = event.receiver ?? (event.detail.server === undefined ? 'none' : 'other');
    add(receiver);
    outcomes.inc({ outcome: event.kind, receiver });
  };
}
