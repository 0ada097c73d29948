import { sql } from 'kysely';
import { awaitReplication } from '../../base/database/await-replication.ts';
import type { Database } from '../../base/database/open-database.ts';
import type { AccountId, MessageId } from '../../base/values/ids.ts';

/** The request accepted with a key, and its response. */
export interface StoredIdempotencyKey {
  /** One byte per character. */
  readonly requestHash: string;
  readonly messageId: MessageId;
  readonly suppressedRecipients: readonly string[];
}

/**
 * Finds a key with which the account had a request accepted in the last 24 hours. Resolves with it only once its commit can't be
 * lost.
 */
export async function findIdempotencyKey(
  kysely: Database['kysely'],
  accountId: AccountId,
  key: string,
): Promise<StoredIdempotencyKey | undefined> {
  const { rows } = await sql<{
    request_hash: Buffer;
    message_id: MessageId;
    suppressed_recipients: string[];
  }>`
    select request_hash, message_id, suppressed_recipients, ${sql.raw(awaitReplication)} from idempotency_key
    where account_id = ${accountId} and key = ${key}
      and created_at > now() - interval '24 hours'`.execute(kysely);
  const [row] = rows;
  return (
    row && {
      requestHash: row.request_hash.toString('latin1'),
      messageId: row.message_id,
      suppressedRecipients: row.suppressed_recipients,
    }
  );
}

/**
 * Removes keys older than 24 hours, unless another process started doing so in the last half hour. Scans page ranges,
 * which keeps statements short and avoids the cost of an age index on every request.
 * @param pages per statement
 * @returns how many were removed
 */
export async function removeOldIdempotencyKeys(
  kysely: Database['kysely'],
  pages = 1_000,
): Promise<number> {
  if (!(await beginSweep(kysely))) return 0;
  const end = await countPages(kysely);
  let removed = 0;
  for (let page = 0; page < end; page += pages) {
    const { numAffectedRows } = await sql`
      delete from idempotency_key
      where ctid >= ${`(${page},0)`}::tid and ctid < ${`(${page + pages},0)`}::tid
        and created_at <= now() - interval '24 hours'`.execute(kysely);
    removed += Number(numAffectedRows ?? 0);
  }
  return removed;
}

async function beginSweep(kysely: Database['kysely']): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update idempotency_sweep set begun_at = now()
    where begun_at <= now() - interval '30 minutes'`.execute(kysely);
  return numAffectedRows === 1n;
}

async function countPages(kysely: Database['kysely']): Promise<number> {
  const { rows } = await sql<{ pages: number }>`
    select (pg_relation_size('idempotency_key') / current_setting('block_size')::int)::int as pages`.execute(
    kysely,
  );
  return rows[0]?.pages ?? 0;
}
