import { sql } from 'kysely';
import { awaitReplication } from '../../base/database/await-replication.ts';
import type { Kysely } from '../../base/database/open-database.ts';
import { countChanged, firstRow, run } from '../../base/database/statements.ts';
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
  kysely: Kysely,
  accountId: AccountId,
  key: string,
): Promise<StoredIdempotencyKey | undefined> {
  const row = await firstRow<{
    request_hash: Buffer;
    message_id: MessageId;
    suppressed_recipients: string[];
  }>(kysely)`
    select request_hash, message_id, suppressed_recipients, ${sql.raw(awaitReplication)} from idempotency_key
    where account_id = ${accountId} and key = ${key}
      and created_at > now() - interval '24 hours'`;
  return (
    row && {
      requestHash: row.request_hash.toString('latin1'),
      messageId: row.message_id,
      suppressedRecipients: row.suppressed_recipients,
    }
  );
}

/**
 * Keys of outbox rows are dated ahead, so that they are remembered for 90 days: a row is read again until its answer is written
 * into its table, which can be away.
 */
export const unansweredAhead = "interval '89 days'";

/** Remembers keys of outbox rows whose answers are written for 7 days from now. */
export async function rememberAnswered(
  kysely: Kysely,
  accountId: AccountId,
  keys: readonly string[],
): Promise<void> {
  await run(kysely)`
    update idempotency_key set created_at = now() + interval '6 days'
    where account_id = ${accountId} and key = any (${keys}::text[])`;
}

/**
 * Removes keys older than 24 hours, unless another process started doing so in the last half hour. Scans page ranges,
 * which keeps statements short and avoids the cost of an age index on every request.
 * @param pages per statement
 * @returns how many were removed
 */
export async function removeOldIdempotencyKeys(kysely: Kysely, pages = 1_000): Promise<number> {
  if (!(await beginSweep(kysely))) return 0;
  const end = await countPages(kysely);
  let removed = 0;
  for (let page = 0; page < end; page += pages) {
    removed += await countChanged(kysely)`
      delete from idempotency_key
      where ctid >= ${`(${page},0)`}::tid and ctid < ${`(${page + pages},0)`}::tid
        and created_at <= now() - interval '24 hours'`;
  }
  return removed;
}

async function beginSweep(kysely: Kysely): Promise<boolean> {
  const changed = await countChanged(kysely)`
    update idempotency_sweep set begun_at = now()
    where begun_at <= now() - interval '30 minutes'`;
  return changed === 1;
}

async function countPages(kysely: Kysely): Promise<number> {
  const row = await firstRow<{ pages: number }>(kysely)`
    select (pg_relation_size('idempotency_key') / current_setting('block_size')::int)::int as pages`;
  return row?.pages ?? 0;
}
