import { statfs } from 'node:fs/promises';
import type { Registry } from 'prom-client';
import { measureClockOffset } from '../database/database-time-store.ts';
import type { Database } from '../database/open-database.ts';
import type { Log } from '../values/log.ts';
import { registerGauge } from './register-gauge.ts';
import { shareReading } from './shared-reading.ts';

const diskMaxAgeMs = 5_000;

/** Registers metrics of the process and its machine. A node without a data folder reports no disk. */
export function registerNodeMetrics(
  registry: Registry,
  {
    dataDir,
    database,
    log,
  }: { readonly dataDir: string; readonly database: Database; readonly log: Log },
): void {
  registerGauge(registry, 'signalpost_processes', () => 1);
  registerGauge(
    registry,
    'signalpost_database_waiting',
    () => database.pool.waitingCount + database.queuePool.waitingCount,
  );
  const readOffset = shareReading(() => measureClockOffset(database.pool), {
    what: 'the database’s clock',
    log,
  });
  registerGauge(registry, 'signalpost_clock_offset_seconds', async () => {
    const offset = await readOffset();
    return offset && Math.abs(offset) / 1_000;
  });
  const readDisk = shareReading(() => findDisk(dataDir), {
    what: 'the disk',
    log,
    maxAgeMs: diskMaxAgeMs,
  });
  registerGauge(registry, 'signalpost_disk_free_bytes', async () => (await readDisk())?.free);
  registerGauge(registry, 'signalpost_disk_size_bytes', async () => (await readDisk())?.size);
}

interface Disk {
  readonly free: number;
  readonly size: number;
}

/** Undefined if the folder doesn't exist. */
async function findDisk(folder: string): Promise<Disk | undefined> {
  try {
    const { bavail, blocks, bsize } = await statfs(folder);
    return { free: bavail * bsize, size: blocks * bsize };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
