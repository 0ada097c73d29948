import { setTimeout as delay } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import type pg from 'pg';
import type { Kysely } from './open-database.ts';
import { allRows, run } from './statements.ts';

/**
 * Keys of PostgreSQL's advisory locks, in one place so that no two are equal. Never change a key, because nodes of different
 * releases must agree on it. Only this file has the statements that take them.
 */
export const advisoryLocks = {
  /** Serializes migrations of nodes that start together. */
  migrations: 7_233_480_021,
  /** Serializes changes of settings: shared for one account, exclusive across accounts. Also seeds each account's lock. */
  settings: 7_233_480_022,
  /** Serializes the creation of message partitions. */
  messagePartitions: 7_233_480_023,
  /** Held during a backup of the embedded database, so that only one runs at a time. */
  backup: 7_233_480_024,
  /** Held in both databases while an installation is moved from one to the other. */
  move: 7_233_480_025,
  /** Seeds the lock of each budget, so that its uses are counted one after another. */
  budgets: 7_233_480_026,
  /** Seeds the lock of each follower, held during a window that its process recorded before it began it. */
  recordedWindows: 7_233_480_027,
  /** Seeds the lock of each webhook endpoint's log: shared by what changes its entries, exclusive for its removal. */
  webhookLogs: 7_233_480_028,
  /** Serializes the publication of system templates. */
  systemTemplates: 'signalpost system templates',
} as const;

export type AdvisoryLock = keyof typeof advisoryLocks;

/** What PostgreSQL needs to compute the key of a lock: a number, or a text whose hash is the key. */
export function lockKey(lock: AdvisoryLock): readonly [number | null, string | null] {
  const key = advisoryLocks[lock];
  return typeof key === 'number' ? [key, null] : [null, key];
}

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

/** Takes a lock until the transaction ends. Waits for transactions that hold it or parts of it. */
export async function lockForTransaction(transaction: Kysely, lock: AdvisoryLock): Promise<void> {
  const [number, name] = lockKey(lock);
  await run(transaction)`
    select pg_advisory_xact_lock(coalesce(${number}::bigint, hashtextextended(${name}, 0)))`;
}

/** Takes a part of the settings lock, such as that of an account, until the transaction ends. Other parts stay free. */
export async function lockPartForTransaction(transaction: Kysely, part: string): Promise<void> {
  await run(transaction)`
    select pg_advisory_xact_lock_shared(${advisoryLocks.settings}::bigint),
      pg_advisory_xact_lock(hashtextextended(${part}, ${advisoryLocks.settings}::bigint))`;
}

/** Locks budgets until the transaction ends, always in the same order. */
export async function lockBudgets(transaction: Kysely, keys: readonly string[]): Promise<void> {
  await run(transaction)`
    select pg_advisory_xact_lock(lock) from (
      select hashtextextended(key, ${advisoryLocks.budgets}::bigint) as lock from unnest(${keys}::text[]) as key
      order by lock) as ordered`;
}

/**
 * SQL: takes the lock of the log of a webhook endpoint until the transaction ends, as a condition that is always true.
 * A removal locks all entries in an order that no statement can set. Whatever else changes several entries therefore shares
 * this lock first and waits for the removal, or the removal for it, instead of ending in a deadlock.
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
  transaction: Kysely,
  follower: string,
): Promise<boolean> {
  const rows = await allRows<{ locked: boolean }>(transaction)`
    select pg_try_advisory_xact_lock(hashtextextended(${follower}, ${advisoryLocks.recordedWindows}::bigint)) as locked`;
  return rows[0]?.locked === true;
}
