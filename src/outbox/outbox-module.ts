import { Counter, type Registry } from 'prom-client';
import { Limiter } from '../base/fairness/limiter.ts';
import { policies } from '../base/fairness/policies.ts';
import { PublicNetworks } from '../base/network/public-networks.ts';
import { metricOptions } from '../base/telemetry/metrics-table.ts';
import { registerGauge } from '../base/telemetry/register-gauge.ts';
import { within } from '../base/values/within.ts';
import { OutboxReader, type OutboxReaderDependencies } from './reader/outbox-reader.ts';

/** Statements at sources in progress have a last chance to end. */
const maxStopMs = 10_000;

interface OutboxDependencies
  extends Omit<OutboxReaderDependencies, 'count' | 'networks' | 'pages'> {
  readonly metrics: Registry;
  /** Non-public networks that sources may be in. */
  readonly allowedNetworks: readonly string[];
}

/** What the rest of the service uses of outboxes. */
export type Outbox = ReturnType<typeof createOutbox>;

/** Reads the outboxes of accounts: tables of their own databases whose rows are sent. */
export function createOutbox({ metrics, allowedNetworks, ...dependencies }: OutboxDependencies) {
  const networks = new PublicNetworks(allowedNetworks);
  const rows = new Counter(metricOptions('signalpost_outbox_rows_total', metrics));
  const reader = new OutboxReader({
    ...dependencies,
    networks,
    pages: new Limiter(policies.outboxPages),
    count: (outcome, count) => rows.inc({ outcome }, count),
  });
  registerGauge(metrics, 'signalpost_outbox_lag_seconds', () => reader.lagSeconds);
  registerGauge(metrics, 'signalpost_outbox_slot_bytes', () => reader.slotBytes);
  return {
    networks,
    start: () => reader.start(),
    stop: () => within(reader.stop(), maxStopMs, () => undefined),
  };
}
