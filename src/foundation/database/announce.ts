import { type Kysely, sql } from 'kysely';
import type { Tables } from './open-database.ts';

/** The channel on which nodes tell each other what their caches must drop. */
export const changeChannel = 'signalpost_change';

/**
 * Says inside the changing transaction that every node must drop the named cache entry; nodes hear it at commit.
 * NOTIFY takes a lock over the whole database at commit, so it is for changes of settings, never for each message or token.
 * @param topic the cache's name
 * @param key the entry, or '*' for all of them; together under 7,900 bytes
 */
export async function announceChange(
  transaction: Kysely<Tables>,
  topic: string,
  key: string,
): Promise<void> {
  await sql`select pg_notify(${changeChannel}, ${`${topic}:${key}`})`.execute(transaction);
}
