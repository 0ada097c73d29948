import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Gauge, type Registry } from 'prom-client';
import type { Database } from '../database/open-database.ts';
import { delayResolutionMs, metricOptions } from '../telemetry/metrics-table.ts';
import { shareReading } from '../telemetry/shared-reading.ts';
import type { Log } from '../values/log.ts';
import { PeriodicTask } from './periodic-task.ts';
import { countProcesses, processReportMs, removeProcess, reportProcess } from './process-store.ts';

const nanosecondsPerMs = 1_000_000;

export interface ProcessReportOptions {
  readonly database: Database;
  readonly log: Log;
  readonly metrics: Registry;
  readonly version: string;
  readonly roles: readonly string[];
  /** Messages whose lease this process holds. */
  readonly inFlight: () => number;
  /** Requests with X-Forwarded-For from proxies that aren't trusted. */
  readonly unreadForwarded: () => number;
  /** Reports after delivery that matched no message. */
  readonly unmatchedReports: () => number;
}

/** Reports this process to the database, so operators see all processes in one place. */
export class ProcessReport {
  readonly #options: ProcessReportOptions;
  readonly #id = randomUUID();
  readonly #delay = monitorEventLoopDelay({ resolution: delayResolutionMs });
  readonly #task: PeriodicTask;

  constructor(options: ProcessReportOptions) {
    const { log } = options;
    this.#options = options;
    this.#task = new PeriodicTask(processReportMs, () => this.#report(), {
      onError: (error) => log.debug({ err: error }, 'could not report this process'),
    });
    registerProcessMetrics(options);
  }

  start(): void {
    this.#delay.enable();
    this.#task.start();
    this.#task.runNow();
  }

  async stop(): Promise<void> {
    await this.#task.stop();
    this.#delay.disable();
    await removeProcess(this.#options.database.kysely, this.#id).catch(() => undefined);
  }

  async #report(): Promise<void> {
    const { database, version, roles, inFlight, unreadForwarded, unmatchedReports } = this.#options;
    const delayMs = this.#delay.percentile(99) / nanosecondsPerMs - delayResolutionMs;
    this.#delay.reset();
    await reportProcess(database.kysely, {
      id: this.#id,
      host: hostname(),
      pid: process.pid,
      version,
      roles,
      inFlight: inFlight(),
      delayMs: Math.max(0, Math.round(delayMs)),
      unreadForwarded: unreadForwarded(),
      unmatchedReports: unmatchedReports(),
    });
  }
}

function registerProcessMetrics(options: ProcessReportOptions): void {
  const { database, log, metrics, version, roles } = options;
  new Gauge(metricOptions('signalpost_process_info', metrics)).set(
    { version, roles: [...roles].sort().join(',') },
    1,
  );
  const count = shareReading(() => countProcesses(database.kysely), {
    what: 'the number of processes',
    log,
  });
  new Gauge({
    ...metricOptions('signalpost_service_processes', metrics),
    async collect() {
      const counts = await count();
      this.reset();
      if (counts === undefined) return;
      this.set({ state: 'running' }, counts.running);
      this.set({ state: 'vanished' }, counts.vanished);
    },
  });
}
