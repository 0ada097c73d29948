import type pg from 'pg';
import type { Log } from '../log.ts';
import { correctIdTime } from '../uuid7.ts';

const minute = 60_000;
let corrected = false;

/**
 * What the database's clock shows, which decides how old a message is.
 * @param offset milliseconds that are added to it
 * @returns milliseconds since the epoch
 */
export async function readDatabaseTime(
  database: Pick<pg.Pool | pg.PoolClient, 'query'>,
  offset: number,
): Promise<number> {
  const { rows } = await database.query<{ time: number }>(
    'select extract(epoch from clock_timestamp())::float8 * 1000 as time',
  );
  return (rows[0]?.time ?? Number.NaN) + offset;
}

/**
 * Lets ids carry the database's time where this machine's clock is more than a minute away from it: the time in the id of
 * a message names the partition that keeps it, and so when it goes.
 */
export async function followDatabaseTime(
  database: Pick<pg.Pool, 'query'>,
  log: Log,
): Promise<void> {
  const asked = Date.now();
  const time = await readDatabaseTime(database, 0);
  const ahead = time - (asked + Date.now()) / 2;
  const wrong = Math.abs(ahead) > minute;
  if (wrong || corrected) correctIdTime(wrong ? Math.round(ahead) : 0);
  corrected = wrong;
  if (!wrong) return;
  const seconds = Math.round(ahead / 1_000);
  log.warn({ seconds }, 'the database’s clock is so far ahead of this machine’s; ids follow it');
}
