import { Logger, runMigrations } from 'graphile-worker';
import type { Database } from '../foundation/database/open-database.ts';
import type { Log } from '../foundation/log.ts';

/** A logger for the library that runs webhook jobs. */
export function jobLogger(log: Log): Logger {
  return new Logger(() => (level, message, meta) => {
    log.debug({ level, ...meta }, message);
  });
}

/** Creates or updates the schema of webhook jobs. */
export async function migrateJobs(pool: Database['pool'], log: Log): Promise<void> {
  await runMigrations({ pgPool: pool, logger: jobLogger(log) });
}
