import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { type AdvisoryLock, lockKey } from './advisory-locks.ts';

const pollMs = 200;

/** @returns false if another session holds the lock */
export async function trySessionLock(client: pg.ClientBase, lock: AdvisoryLock): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>(
    'select pg_try_advisory_lock(coalesce($1::bigint, hashtextextended($2, 0))) as locked',
    [...lockKey(lock)],
  );
  return rows[0]?.locked === true;
}

/**
 * Takes a lock for the session, asking again and again: a statement that waited for the lock would be one that an index built
 * concurrently waits for.
 * @param timeoutMs by default, waits as long as it takes
 * @returns false if another session still holds the lock then
 */
export async function awaitSessionLock(
  client: pg.ClientBase,
  lock: AdvisoryLock,
  timeoutMs = Number.POSITIVE_INFINITY,
): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (!(await trySessionLock(client, lock))) {
    if (performance.now() > deadline) return false;
    await delay(pollMs);
  }
  return true;
}

export async function releaseSessionLock(client: pg.ClientBase, lock: AdvisoryLock): Promise<void> {
  await client.query('select pg_advisory_unlock(coalesce($1::bigint, hashtextextended($2, 0)))', [
    ...lockKey(lock),
  ]);
}
