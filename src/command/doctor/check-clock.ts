import { readDatabaseClock } from '../../foundation/database/database-time-store.ts';
import type { Diagnosis, DoctorContext } from './doctor-context.ts';

/** Seconds by which this machine and the database may disagree: message ids carry this machine's time. */
const maxSkewSeconds = 5;

/** This machine's clock agrees with the database's. */
export async function checkClock({ database }: DoctorContext): Promise<Diagnosis> {
  if (database === undefined)
    return { ok: true, finding: `${new Date().toISOString()} by this machine` };
  const before = Date.now();
  const server = await readDatabaseClock(database.pool, 0);
  const seconds = Math.abs(server - (before + Date.now()) / 2) / 1000;
  if (seconds <= maxSkewSeconds) {
    return { ok: true, finding: `within ${seconds.toFixed(1)} s of the database’s` };
  }
  return {
    ok: false,
    finding: `${seconds.toFixed(0)} s away from the database’s`,
    advice: 'Let a time service (NTP) set the clocks of both machines.',
  };
}
