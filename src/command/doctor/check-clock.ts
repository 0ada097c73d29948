import { measureClockOffset } from '../../foundation/database/database-time-store.ts';
import { isUnavailable } from '../../foundation/database/sqlstate.ts';
import type { Diagnosis, DoctorContext } from './doctor-context.ts';

/**
 * Maximum clock difference in seconds between this machine and the database: message IDs contain this machine's time.
 */
const maxSkewSeconds = 5;

/** Checks that this machine's clock agrees with the database's. */
export async function checkClock({ database }: DoctorContext): Promise<Diagnosis> {
  if (database === undefined)
    return { ok: true, finding: `${new Date().toISOString()} on this machine` };
  const ahead = await measureClockOffset(database.pool).catch((error: unknown) => {
    if (!isUnavailable(error)) throw error;
  });
  // If the database doesn't respond, its own check reports why.
  if (ahead === undefined) return { ok: true, finding: 'not checked without the database' };
  const seconds = Math.abs(ahead) / 1_000;
  if (seconds <= maxSkewSeconds) {
    return { ok: true, finding: `within ${seconds.toFixed(1)} s of the database’s` };
  }
  return {
    ok: false,
    finding: `this machine’s clock is ${seconds.toFixed(0)} s ${ahead < 0 ? 'ahead of' : 'behind'} the database’s`,
    advice: 'Synchronize the clocks of both machines with NTP. See docs/operate/faults.md.',
  };
}
