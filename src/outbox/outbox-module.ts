import { Counter, type Registry } from 'prom-client';
import type { ChangeListener } from '../base/database/change-listener.ts';
import { Limiter } from '../base/fairness/limiter.ts';
import { policies } from '../base/fairness/policies.ts';
import type { MasterKey } from '../base/secrets/master-key.ts';
import { metricOptions } from '../base/telemetry/metrics-table.ts';
import { registerGauge } from '../base/telemetry/register-gauge.ts';
import { PeriodicTask } from '../base/threads/periodic-task.ts';
import { newId } from '../base/values/ids.ts';
import { within } from '../base/values/within.ts';
import { type ReadSourceDependencies, readSource, type SourceLoop } from './reader/read-source.ts';
import { leaseSources, outboxSourceTopic, releaseSources } from './source/outbox-source-store.ts';

/** Sources that a process reads; each has a connection or two. */
const maxSources = 100;
/** Between extensions of leases and looks for sources that no process reads; a fraction of a lease. */
const leaseMs = 2_000;
/** Statements at sources in progress have a last chance to end. */
const maxStopMs = 10_000;

interface OutboxDependencies extends Omit<ReadSourceDependencies, 'count' | 'pages'> {
  readonly key: MasterKey;
  readonly changes: Pick<ChangeListener, 'subscribe'>;
  readonly metrics: Registry;
}

/**
 * Reads the outboxes of accounts: tables of their own databases whose rows are sent. Each source has one reader, under a lease, and
 * another process takes over if it ends. Where two overlap, the keys of the rows let each be sent once.
 */
export function createOutbox(dependencies: OutboxDependencies) {
  const { database, key, changes, metrics, log } = dependencies;
  const pages = new Limiter(policies.outboxPages);
  const rows = new Counter(metricOptions('signalpost_outbox_rows_total', metrics));
  const count: ReadSourceDependencies['count'] = (outcome, more) => rows.inc({ outcome }, more);
  const owner = newId();
  /** By incarnation of the source. */
  const loops = new Map<string, SourceLoop>();
  const leases = new PeriodicTask(leaseMs, lease, {
    onError: (error) => log.warn({ err: error }, 'could not lease outbox sources'),
  });
  const record = (): void => void leases.runNow();

  async function lease(): Promise<void> {
    const readings = [...loops.values()].map((loop) => loop.reading());
    const leased = await leaseSources(database.kysely, key, owner, maxSources, readings);
    const now = new Set(leased.map(({ incarnation }) => incarnation));
    for (const [incarnation, loop] of loops) if (!now.has(incarnation)) void loop.stop();
    for (const source of leased) {
      const { incarnation } = source;
      const known = loops.get(incarnation);
      known?.update(source);
      if (known !== undefined) continue;
      const loop = readSource({ ...dependencies, pages, count }, source, record);
      loops.set(incarnation, loop);
      void loop.running.finally(() => loops.delete(incarnation));
    }
  }

  /** Waits for pages in progress, and lets other processes continue at once. */
  async function stop(): Promise<void> {
    await leases.stop();
    await Promise.all([...loops.values()].map((loop) => loop.stop()));
    await releaseSources(database.kysely, owner).catch((error: unknown) =>
      log.info({ err: error }, 'leases of outboxes end by themselves'),
    );
  }

  /** The highest number of all sources; undefined if none has one. */
  const highest = (of: (loop: SourceLoop) => number | null): number | undefined =>
    [...loops.values()].flatMap((loop) => of(loop) ?? []).sort((a, b) => b - a)[0];

  registerGauge(metrics, 'signalpost_outbox_lag_seconds', () =>
    highest((loop) => loop.lagSeconds()),
  );
  registerGauge(metrics, 'signalpost_outbox_slot_bytes', () => highest((loop) => loop.slotBytes()));
  changes.subscribe(outboxSourceTopic, (name) => {
    for (const loop of loops.values()) if (name === '*' || loop.name === name) loop.lookNow();
    record();
  });
  return {
    start(): void {
      leases.start();
      record();
    },
    stop: () => within(stop(), maxStopMs, () => undefined),
  };
}
