import { type RawBuilder, sql } from 'kysely';
import { endedTransactions } from '../database/ended-transactions.ts';
import type { Database } from '../database/open-database.ts';

type Kysely = Database['kysely'];

/**
 * Creates a cursor at the present. It also moves there if it stood still for an hour, because the log was off, and if it is ahead
 * of all transactions, because the database was restored.
 */
export async function beginLogCursor(kysely: Kysely, name: string): Promise<void> {
  await sql`
    with ${endedTransactions}
    insert into log_cursor as c (name, tx) select ${name}, tx from bound
    on conflict (name) do update set tx = excluded.tx, moved_at = now()
    where c.moved_at < now() - interval '1 hour' or c.tx > excluded.tx`.execute(kysely);
}

/**
 * Takes the cursor for this transaction.
 * @returns the range of ended transactions after it; undefined if there is none or another node has it
 */
export async function lockLogCursor(
  transaction: Kysely,
  name: string,
): Promise<{ readonly from: string; readonly end: string } | undefined> {
  const { rows: held } = await sql<{ from: string }>`
    select tx::text as from from log_cursor where name = ${name} for update skip locked`.execute(
    transaction,
  );
  const from = held[0]?.from;
  // A separate snapshot, taken once the lock is held.
  return from === undefined ? undefined : findEnded(transaction, from);
}

/** The range of ended transactions after the cursor; undefined if there is none. */
export async function readLogRange(
  kysely: Kysely,
  name: string,
): Promise<{ readonly from: string; readonly end: string } | undefined> {
  const { rows } = await sql<{ from: string }>`
    select tx::text as from from log_cursor where name = ${name}`.execute(kysely);
  const from = rows[0]?.from;
  return from === undefined ? undefined : findEnded(kysely, from);
}

async function findEnded(kysely: Kysely, from: string) {
  const { rows } = await sql<{ end: string }>`
    with ${endedTransactions} select tx::text as end from bound where tx > ${from}::xid8`.execute(
    kysely,
  );
  const end = rows[0]?.end;
  return end === undefined ? undefined : { from, end };
}

/**
 * The end of a window of about `limit` rows. Transactions are never split.
 * @param first SQL for `tx` of the first `limit` rows of the range
 * @param end of the range
 */
export async function findWindowEnd(
  transaction: Kysely,
  first: RawBuilder<unknown>,
  end: string,
  limit: number,
): Promise<string> {
  const { rows } = await sql<{ until: string | null }>`
    select case when count(*) = ${limit} then (max(tx)::text::numeric + 1)::text end as until
    from (${first}) as e`.execute(transaction);
  return rows[0]?.until ?? end;
}

/**
 * Marks everything before a transaction as written, unless more is marked already.
 * @param rows how many were; without any, it is enough to move now and then
 */
export async function moveLogCursor(
  transaction: Kysely,
  name: string,
  tx: string,
  rows: number,
): Promise<void> {
  await sql`
    update log_cursor set tx = ${tx}::xid8, moved_at = now()
    where name = ${name} and tx <= ${tx}::xid8 and (${rows} > 0 or moved_at < now() - interval '10 minutes')`.execute(
    transaction,
  );
}
