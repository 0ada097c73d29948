import { type RawBuilder, sql } from 'kysely';
import { type AdvisoryLock, advisoryLocks, lockKey } from './advisory-locks.ts';
import type { Database } from './open-database.ts';

/** Takes a lock until the transaction ends. Waits for transactions that hold it or parts of it. */
export async function lockForTransaction(
  transaction: Database['kysely'],
  lock: AdvisoryLock,
): Promise<void> {
  const [number, name] = lockKey(lock);
  await sql`
    select pg_advisory_xact_lock(coalesce(${number}::bigint, hashtextextended(${name}, 0)))`.execute(
    transaction,
  );
}

/** Takes a part of the settings lock, such as that of an account, until the transaction ends. Other parts stay free. */
export async function lockPartForTransaction(
  transaction: Database['kysely'],
  part: string,
): Promise<void> {
  await sql`
    select pg_advisory_xact_lock_shared(${advisoryLocks.settings}::bigint),
      pg_advisory_xact_lock(hashtextextended(${part}, ${advisoryLocks.settings}::bigint))`.execute(
    transaction,
  );
}

/** Locks budgets until the transaction ends, always in the same order. */
export async function lockBudgets(
  transaction: Database['kysely'],
  keys: readonly string[],
): Promise<void> {
  await sql`
    select pg_advisory_xact_lock(lock) from (
      select hashtextextended(key, ${advisoryLocks.budgets}::bigint) as lock from unnest(${keys}::text[]) as key
      order by lock) as ordered`.execute(transaction);
}

/**
 * SQL: takes the lock of the log of a webhook endpoint until the transaction ends, as a condition that is always true.
 * A removal locks all entries in an order that nobody chooses, so whoever locks several shares the lock first: the two wait
 * for each other instead of ending in a deadlock.
 * @param endpoints SQL: a query of endpoint ids, in a fixed order
 */
export const webhookLogsLocked = (
  kind: 'shared' | 'exclusive',
  endpoints: RawBuilder<unknown>,
) => sql`(
  select count(${sql.raw(kind === 'shared' ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_xact_lock')}(
    hashtextextended(id::text, ${advisoryLocks.webhookLogs}::bigint))) >= 0
  from (${endpoints}) as locked (id))`;

/**
 * Takes the lock of recorded windows of a follower until the transaction ends.
 * @returns false if another transaction holds it
 */
export async function tryLockRecordedWindows(
  transaction: Database['kysely'],
  follower: string,
): Promise<boolean> {
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${follower}, ${advisoryLocks.recordedWindows}::bigint)) as locked`.execute(
    transaction,
  );
  return rows[0]?.locked === true;
}
