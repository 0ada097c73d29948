import { sql } from 'kysely';
import type { Database } from '../../foundation/database/open-database.ts';
import type { AccountId, ListId } from '../../foundation/ids.ts';

type Kysely = Database['kysely'];

/** The target of an import: a contact list or the account's suppressions. */
export interface ImportTarget {
  readonly accountId: AccountId;
  /** Undefined: suppressions. */
  readonly listId: ListId | undefined;
}

export interface ImportKey extends ImportTarget {
  readonly importId: string;
}

/** Progress of an import. */
export interface ImportProgress {
  readonly state: 'running' | 'done' | 'failed';
  readonly bytesTotal: number;
  readonly bytesRead: number;
  readonly rowsRead: number;
  readonly rowsWritten: number;
  readonly rowsWrong: number;
  readonly problems: readonly { readonly line: number; readonly reason: string }[];
  readonly createdAt: Date;
  readonly changedAt: Date;
}

/** @returns false if an import with this id exists */
export async function createImport(
  kysely: Kysely,
  { accountId, listId, importId }: ImportKey,
  bytes: number,
): Promise<boolean> {
  const { rows } = await sql`
    insert into file_import (account_id, list_id, id, state, bytes_total)
    values (${accountId}, ${listId ?? null}, ${importId}, 'running', ${bytes})
    on conflict do nothing returning 1`.execute(kysely);
  return rows.length === 1;
}

export async function saveProgress(
  kysely: Kysely,
  { accountId, listId, importId }: ImportKey,
  progress: Pick<
    ImportProgress,
    'state' | 'bytesRead' | 'rowsRead' | 'rowsWritten' | 'rowsWrong' | 'problems'
  >,
): Promise<void> {
  await sql`
    update file_import
    set state = ${progress.state}, bytes_read = ${progress.bytesRead}, rows_read = ${progress.rowsRead},
      rows_written = ${progress.rowsWritten}, rows_wrong = ${progress.rowsWrong},
      problems = ${JSON.stringify(progress.problems)}::jsonb, changed_at = now()
    where account_id = ${accountId} and list_id is not distinct from ${listId ?? null} and id = ${importId}`.execute(
    kysely,
  );
}

/** Reads an import. It counts as failed after a minute without progress, because its node is gone. */
export async function readImport(
  kysely: Kysely,
  { importId, ...target }: ImportKey,
): Promise<ImportProgress | undefined> {
  const [found] = await readImports(kysely, target, importId);
  return found;
}

/** The last 100 imports into a target, newest first. */
export async function readImports(
  kysely: Kysely,
  { accountId, listId }: ImportTarget,
  importId?: string,
): Promise<(ImportProgress & { readonly id: string })[]> {
  const { rows } = await sql<ImportProgress & { id: string }>`
    select id, case when state = 'running' and changed_at < now() - interval '1 minute' then 'failed' else state end as state,
      bytes_total::float8 as "bytesTotal", bytes_read::float8 as "bytesRead", rows_read as "rowsRead",
      rows_written as "rowsWritten", rows_wrong as "rowsWrong", problems, created_at as "createdAt",
      changed_at as "changedAt"
    from file_import
    where account_id = ${accountId} and list_id is not distinct from ${listId ?? null}
      and (${importId ?? null}::uuid is null or id = ${importId ?? null})
    order by created_at desc, id limit 100`.execute(kysely);
  return rows;
}
