import { sql } from 'kysely';
import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId, MessageId } from '../foundation/ids.ts';

/** What a key stands for: the request that was accepted with it, and its answer. */
export interface KnownKey {
  readonly requestHash: Buffer;
  readonly messageId: MessageId;
  readonly suppressedRecipients: readonly string[];
}

/**
 * The key of an account where a request was accepted with it within the last 24 hours.
 * @param offset milliseconds added to the database's clock
 */
export async function findIdempotencyKey(
  kysely: Database['kysely'],
  accountId: AccountId,
  key: string,
  offset: number,
): Promise<KnownKey | undefined> {
  const { rows } = await sql<{
    request_hash: Buffer;
    message_id: MessageId;
    suppressed_recipients: string[];
  }>`
    select request_hash, message_id, suppressed_recipients from idempotency_key
    where account_id = ${accountId} and key = ${key}
      and created_at > now() + ${offset}::float8 * interval '1 ms' - interval '24 hours'`.execute(
    kysely,
  );
  const [row] = rows;
  return (
    row && {
      requestHash: row.request_hash,
      messageId: row.message_id,
      suppressedRecipients: row.suppressed_recipients,
    }
  );
}

/**
 * Removes keys that are older than 24 hours, in chunks, so that no statement runs for long.
 * @returns how many were removed
 */
export async function removeOldIdempotencyKeys(
  kysely: Database['kysely'],
  offset: number,
  chunk = 5_000,
): Promise<number> {
  for (let removed = 0; ; ) {
    const { numAffectedRows } = await sql`
      delete from idempotency_key where (account_id, key) in (
        select account_id, key from idempotency_key
        where created_at <= now() + ${offset}::float8 * interval '1 ms' - interval '24 hours'
        order by created_at limit ${chunk})`.execute(kysely);
    removed += Number(numAffectedRows ?? 0);
    if (Number(numAffectedRows ?? 0) < chunk) return removed;
  }
}
