import type { AdvisoryLock } from './advisory-locks.ts';
import type { Database } from './open-database.ts';
import { releaseSessionLock, trySessionLock } from './session-lock.ts';

/**
 * Does work while no other process does the same, on a separate connection and outside a transaction. Does nothing if another
 * process holds the lock; PostgreSQL releases that of a process that died.
 */
export async function holdSessionLock(
  { pool }: Database,
  lock: AdvisoryLock,
  work: () => Promise<void>,
): Promise<void> {
  const client = await pool.connect();
  let failure: Error | undefined;
  try {
    if (!(await trySessionLock(client, lock))) return;
    try {
      await work();
    } finally {
      await releaseSessionLock(client, lock);
    }
  } catch (error) {
    failure = error as Error;
    throw error;
  } finally {
    // A connection that may still hold the lock is closed.
    client.release(failure);
  }
}
