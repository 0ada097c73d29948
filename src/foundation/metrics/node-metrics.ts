import { statfs } from 'node:fs/promises';
import { Gauge, type Registry } from 'prom-client';
import { measureClockOffset } from '../database/database-time-store.ts';
import type { Database } from '../database/open-database.ts';
import type { Log } from '../log.ts';
import { metricOptions } from './metrics-table.ts';
import { shareReading } from './shared-reading.ts';

const diskMaxAgeMs = 5_000;

export interface NodeMetricsDependencies {
  readonly dataDir: string;
  readonly database: Database;
  readonly log: Log;
}

/** Registers metrics of the process and its machine. A node without a data folder reports no disk. */
export function registerNodeMetrics(
  registry: Registry,
  { dataDir, database, log }: NodeMetricsDependencies,
): void {
  new Gauge(metricOptions('signalpost_processes', registry)).set(1);
  new Gauge({
    ...metricOptions('signalpost_database_waiting', registry),
    collect() {
      this.set(database.pool.waitingCount + database.queuePool.waitingCount);
    },
  });
  const readOffset = shareReading(() => measureClockOffset(database.pool), {
    what: 'the database’s clock',
    log,
  });
  new Gauge({
    ...metricOptions('signalpost_clock_offset_seconds', registry),
    async collect() {
      const offset = await readOffset();
      if (offset === undefined) this.remove();
      else this.set(Math.abs(offset) / 1_000);
    },
  });
  const readDisk = shareReading(() => findDisk(dataDir), {
    what: 'the disk',
    log,
    maxAgeMs: diskMaxAgeMs,
  });
  const gaugeOfDisk = (
    name: 'signalpost_disk_free_bytes' | 'signalpost_disk_size_bytes',
    read: (disk: Disk) => number,
  ): void => {
    new Gauge({
      ...metricOptions(name, registry),
      async collect() {
        const disk = await readDisk();
        if (disk === undefined) this.remove();
        else this.set(read(disk));
      },
    });
  };
  gaugeOfDisk('signalpost_disk_free_bytes', (disk) => disk.free);
  gaugeOfDisk('signalpost_disk_size_bytes', (disk) => disk.size);
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
