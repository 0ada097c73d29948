import { readDatabaseClock } from '../../foundation/database/database-time-store.ts';
import type { Diagnosis, DoctorContext } from './doctor-context.ts';

/**
 * Maximum clock difference in seconds between this machine and the database: message IDs contain this machine's time.
 */
const maxSkewSeconds = 5;

/** Checks that this machine's clock agrees with the database's. */
export async function checkClock({ database }: DoctorContext): Promise<Diagnosis> {
  if (database === undefined)
    return { ok: true, finding: `${new Date().toISOString()} on this machine` };
  const before = Date.now();
  const server = await readDatabaseClock(database.pool);
  const seconds = Math.abs(server - (before + Date.now()) / 2) / 1000;
  if (seconds <= maxSkewSeconds) {
    return { ok: true, finding: `within ${seconds.toFixed(1)} s of the database’s` };
  }
  return {
    ok: false,
    finding: `${seconds.toFixed(0)} s off the database’s`,
    advice: 'Synchronize the clocks of both machines with NTP.',
  };
}
