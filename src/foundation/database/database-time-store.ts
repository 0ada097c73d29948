import type pg from 'pg';
import type { Log } from '../log.ts';
import { setIdClockOffset } from '../uuid7.ts';

const minuteMs = 60_000;
let isCorrected = false;

/**
 * What the database's clock shows, which decides how old a message is.
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
 * Lets ids carry the database's time where this machine's clock is more than a minute away from it: the time in the id of
 * a message names the partition that keeps it, and so when it goes.
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
  log.warn({ seconds }, 'the database’s clock is so far ahead of this machine’s; ids follow it');
}
