import type { Kysely } from 'kysely';
import type { Tables } from './open-database.ts';
import { run } from './statements.ts';

/** NOTIFY channel for cache invalidation across nodes. */
export const changeChannel = 'signalpost_change';

/**
 * Makes every node drop a cache entry when the transaction commits. NOTIFY takes a database-wide lock at commit, so use it
 * for changes of settings, never per message or token.
 * @param topic the cache's name
 * @param key the entry, or '*' for all of them; together under 7,900 bytes
 */
export async function announceChange(
  transaction: Kysely<Tables>,
  topic: string,
  key: string,
): Promise<void> {
  await run(transaction)`select pg_notify(${changeChannel}, ${`${topic}:${key}`})`;
}
