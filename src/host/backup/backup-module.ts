import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Registry } from 'prom-client';
import { registerGauge } from '../../base/telemetry/register-gauge.ts';
import type { Log } from '../../base/values/log.ts';
import { readBackupServiceState, readBaseBackupState } from './backup-state.ts';
import type { BackupServiceJob } from './run-backups.ts';

const threadFile = new URL(`./backup-thread${extname(import.meta.filename)}`, import.meta.url);
const restartMs = 10_000;
const heapMegabytes = 256;

/**
 * Starts a thread that backs up the embedded database, since compression and encryption would block the event loop.
 * @returns a function that ends it at once, since backups are safe to interrupt
 */
export function startBackups(job: BackupServiceJob, log: Log): () => Promise<void> {
  let worker: Worker | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const start = (): void => {
    worker = new Worker(threadFile, {
      workerData: job,
      resourceLimits: { maxOldGenerationSizeMb: heapMegabytes },
    });
    worker.unref();
    worker.on('error', (error) => log.error({ err: error }, 'the backup thread failed'));
    worker.on('exit', () => {
      if (!stopped) timer = setTimeout(start, restartMs).unref();
    });
  };
  start();
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await worker?.terminate();
  };
}

/** Registers the metrics of backups, which have no value before the first backup. */
export function registerBackupMetrics(registry: Registry, dataDir: string): void {
  const times = (name: 'base' | 'wal', read: () => string | undefined): void => {
    const readMs = () => {
      const text = read();
      return text === undefined ? undefined : Date.parse(text);
    };
    registerGauge(registry, `signalpost_backup_${name}_timestamp_seconds`, () => {
      const at = readMs();
      return at && at / 1_000;
    });
    registerGauge(registry, `signalpost_backup_${name}_age_seconds`, () => {
      const at = readMs();
      return at && Math.max(0, (Date.now() - at) / 1_000);
    });
  };
  const service = () => readBackupServiceState(dataDir);
  times('base', () => readBaseBackupState(dataDir)?.finishedAt);
  times('wal', () => service()?.succeededAt);
  registerGauge(registry, 'signalpost_backup_wal_waiting', () => service()?.waiting);
  registerGauge(registry, 'signalpost_backup_failing', () => {
    const state = service();
    return state && Number((state.problem ?? state.baseProblem) !== undefined);
  });
}
