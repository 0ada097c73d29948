import type pg from 'pg';
import type { Log } from '../log.ts';
import { setIdClockOffset } from '../uuid7.ts';

const minuteMs = 60_000;
let isCorrected = false;

/**
 * The time of the database clock, which determines the age of a message.
 * @param offset milliseconds to add
 * @returns milliseconds since the epoch
 */
export async function readDatabaseClock(
  database: Pick<pg.Pool | pg.PoolClient, 'query'>,
  offset: number,
): Promise<number> {
  const { rows } = await database.query<{ time: number }>(
    'select extract(epoch from clock_timestamp())::float8 * 1000 as time',
  );
  return (rows[0]?.time ?? Number.NaN) + offset;
}

/**
 * Makes ids use the database's time if this machine's clock is off by more than a minute, because the time in a message id
 * determines its partition and therefore when it is deleted.
 */
export async function syncIdClock(database: Pick<pg.Pool, 'query'>, log: Log): Promise<void> {
  const requestedAt = Date.now();
  const time = await readDatabaseClock(database, 0);
  const ahead = time - (requestedAt + Date.now()) / 2;
  const wrong = Math.abs(ahead) > minuteMs;
  if (wrong || isCorrected) setIdClockOffset(wrong ? Math.round(ahead) : 0);
  isCorrected = wrong;
  if (!wrong) return;
  const seconds = Math.round(ahead / 1_000);
  log.warn({ seconds }, 'clock differs from the database clock; using database time for ids');
}
