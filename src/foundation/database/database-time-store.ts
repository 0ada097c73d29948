import type pg from 'pg';
import type { Log } from '../log.ts';
import { setIdClockOffset } from '../uuid7.ts';

const minuteMs = 60_000;
let isCorrected = false;

/**
 * The database's time, which determines a message's age.
 * @returns milliseconds since the epoch
 */
export async function readDatabaseClock(
  database: Pick<pg.Pool | pg.PoolClient, 'query'>,
): Promise<number> {
  const { rows } = await database.query<{ time: number }>(
    'select extract(epoch from now())::float8 * 1000 as time',
  );
  return rows[0]?.time ?? Number.NaN;
}

/**
 * Makes IDs use the database's time if this machine's clock is off by more than a minute, because the time in a message ID
 * determines its partition and therefore when it is deleted.
 */
export async function syncIdClock(database: Pick<pg.Pool, 'query'>, log: Log): Promise<void> {
  const requestedAt = Date.now();
  const time = await readDatabaseClock(database);
  const ahead = time - (requestedAt + Date.now()) / 2;
  const wrong = Math.abs(ahead) > minuteMs;
  if (wrong || isCorrected) setIdClockOffset(wrong ? Math.round(ahead) : 0);
  isCorrected = wrong;
  if (!wrong) return;
  const seconds = Math.round(ahead / 1_000);
  log.warn({ seconds }, 'clock differs from the database clock; using database time for IDs');
}
