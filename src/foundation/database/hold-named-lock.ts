import { namedAdvisoryLocks } from './advisory-locks.ts';
import type { Database } from './open-database.ts';

/**
 * Does work while no other process does the same, on a connection of its own and outside a transaction. Does nothing if another
 * process holds the lock; PostgreSQL releases that of a process that died.
 */
export async function holdNamedLock(
  { pool }: Database,
  lock: keyof typeof namedAdvisoryLocks,
  work: () => Promise<void>,
): Promise<void> {
  const client = await pool.connect();
  let failure: Error | undefined;
  try {
    const { rows } = await client.query<{ locked: boolean }>(
      'select pg_try_advisory_lock(hashtextextended($1, 0)) as locked',
      [namedAdvisoryLocks[lock]],
    );
    if (rows[0]?.locked !== true) return;
    try {
      await work();
    } finally {
      await client.query('select pg_advisory_unlock(hashtextextended($1, 0))', [
        namedAdvisoryLocks[lock],
      ]);
    }
  } catch (error) {
    failure = error as Error;
    throw error;
  } finally {
    // A connection that may still hold the lock is closed.
    client.release(failure);
  }
}
