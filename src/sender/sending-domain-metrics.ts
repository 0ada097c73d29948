import { Gauge, type Registry } from 'prom-client';
import type { Database } from '../foundation/database/open-database.ts';
import type { Log } from '../foundation/log.ts';
import { metricOptions } from '../foundation/metrics/metrics-table.ts';
import { shareReading } from '../foundation/metrics/shared-reading.ts';
import type { DomainState } from './sending-domain.ts';
import { countSendingDomains } from './sending-domain-store.ts';

const maxAgeMs = 60_000;
const states: readonly DomainState[] = ['pending', 'verified', 'broken'];

/** Registers the number of sending domains, which has no value if the database can't report it. */
export function registerSendingDomainMetrics(
  registry: Registry,
  database: Database,
  log: Log,
): void {
  const read = shareReading(() => countSendingDomains(database.kysely), {
    what: 'the sending domains',
    log,
    maxAgeMs,
  });
  new Gauge({
    ...metricOptions('signalpost_sending_domains', registry),
    async collect() {
      const counts = await read();
      if (counts === undefined) return this.reset();
      for (const state of states) this.set({ state }, counts.get(state) ?? 0);
    },
  });
}
