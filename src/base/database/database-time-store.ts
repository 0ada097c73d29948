import type pg from 'pg';
import type { Log } from '../values/log.ts';
import { setIdClockOffset } from '../values/uuid7.ts';

const minuteMs = 60_000;
/** What the last message of the log said, in seconds; 0 if the clocks agreed. */
let loggedSeconds = 0;

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

/** Milliseconds that the clock of the database's machine is ahead of this machine's; negative if it is behind. */
export async function measureClockOffset(database: Pick<pg.Pool, 'query'>): Promise<number> {
  const requestedAt = Date.now();
  // The clock itself: in a test, `now()` is what the test says, which other tests of the process don't share.
  const { rows } = await database.query<{ time: number }>(
    'select extract(epoch from clock_timestamp())::float8 * 1000 as time',
  );
  return (rows[0]?.time ?? Number.NaN) - (requestedAt + Date.now()) / 2;
}

/**
 * Makes IDs use the database's time if this machine's clock is off by more than a minute, because the time in a message ID
 * determines its partition and therefore when it is deleted. Logs when that begins and ends.
 */
export async function syncIdClock(database: Pick<pg.Pool, 'query'>, log: Log): Promise<void> {
  const ahead = await measureClockOffset(database);
  const isWrong = Math.abs(ahead) > minuteMs;
  const seconds = isWrong ? Math.round(ahead / 1_000) : 0;
  if (isWrong || loggedSeconds !== 0) setIdClockOffset(isWrong ? Math.round(ahead) : 0);
  if (Math.abs(seconds - loggedSeconds) <= 1) return;
  loggedSeconds = seconds;
  if (isWrong)
    log.warn(
      { seconds, advice: 'Synchronize the clocks of both machines with NTP.' },
      'this machine’s clock differs from the database’s; message IDs use the database’s',
    );
  else log.info('this machine’s clock agrees with the database’s again');
}
