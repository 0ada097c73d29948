import { sql } from 'kysely';
import type { Database, DatabaseTransaction } from '../../foundation/database/open-database.ts';
import type { RejectedRow } from './import-csv.ts';
import type { ImportKey } from './import-key.ts';

type Kysely = Database['kysely'];

/** Max rejected rows of an import that are kept, and their characters. */
const maxKeptRows = 10_000;
const maxKeptCharacters = 5_000_000;
const keptDays = 7;

/** Whether the rejected rows of a `file_import` haven't been removed by age. */
export const rejectedAreKept = sql`changed_at > now() - make_interval(days => ${keptDays})`;

/** Keeps rejected rows as far as the limits allow. @param before what the import already keeps */
export async function keepRejected(
  transaction: DatabaseTransaction,
  { accountId, listId, importId }: ImportKey,
  rejected: readonly RejectedRow[],
  before: { readonly kept: number; readonly size: number },
): Promise<void> {
  let { kept, size } = before;
  const rows: object[] = [];
  for (const { row, line, reason, record } of rejected) {
    const length = record.reduce((sum, value) => sum + value.length, 0);
    if (kept >= maxKeptRows || size + length > maxKeptCharacters) break;
    kept += 1;
    size += length;
    rows.push({ row, line, reason, record: record.map(storable) });
  }
  if (rows.length === 0) return;
  await sql`
    insert into file_import_rejection (account_id, list_id, import_id, row, line, reason, record)
    select ${accountId}, ${listId ?? null}, ${importId}, r.row, r.line, r.reason, r.record
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (row int, line int, reason text, record text[])
    on conflict do nothing`.execute(transaction);
  await sql`
    update file_import set rejected_kept = ${kept}, rejected_size = ${size}
    where account_id = ${accountId} and list_id is not distinct from ${listId ?? null} and id = ${importId}`.execute(
    transaction,
  );
}

function storable(value: string): string {
  return value.toWellFormed().replaceAll('\0', '\ufffd');
}

/** The columns of an import's file; undefined if there is no such import. */
export async function readImportColumns(
  kysely: Kysely,
  { accountId, listId, importId }: ImportKey,
): Promise<readonly string[] | undefined> {
  const { rows } = await sql<{ columns: string[] | null }>`
    select columns from file_import
    where account_id = ${accountId} and list_id is not distinct from ${listId ?? null} and id = ${importId}`.execute(
    kysely,
  );
  const [row] = rows;
  return row === undefined ? undefined : (row.columns ?? []);
}

/** The next kept rows after one, in file order. */
export async function readRejected(
  kysely: Kysely,
  { accountId, listId, importId }: ImportKey,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<RejectedRow[]> {
  const { rows } = await sql<RejectedRow>`
    select row, line, reason, record from file_import_rejection
    where account_id = ${accountId} and list_id is not distinct from ${listId ?? null} and import_id = ${importId}
      and row > ${after}
    order by row limit ${limit}`.execute(kysely);
  return rows;
}

/** Removes the rejected rows of old imports, which may contain personal data. */
export async function removeOldRejected(kysely: Kysely): Promise<void> {
  await sql`
    delete from file_import_rejection where created_at < now() - make_interval(days => ${keptDays})`.execute(
    kysely,
  );
}
