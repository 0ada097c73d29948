import { sql } from 'kysely';
import type { DatabaseTransaction, Kysely } from '../../../base/database/open-database.ts';
import { allRows, firstRow } from '../../../base/database/statements.ts';
import { type AccountId, type ListId, newId } from '../../../base/values/ids.ts';
import type { ImportCounts, ImportStep, RejectedRow } from './import-csv.ts';

/** The target of an import: a contact list or the account's suppressions. */
export interface ImportTarget {
  readonly accountId: AccountId;
  /** Undefined: suppressions. */
  readonly listId: ListId | undefined;
}

export interface ImportKey extends ImportTarget {
  readonly importId: string;
}

/** The process that currently runs an import; once another one continues it, this one's writes have no effect. */
export interface ImportRun extends ImportKey {
  readonly runId: string;
}

interface ImportProblem {
  /** 0: the file as a whole. */
  readonly line: number;
  readonly reason: string;
}

/** Progress of an import. */
export interface ImportProgress extends ImportCounts {
  readonly name: string | null;
  /** `stopped` if it was interrupted and can continue with the same file. */
  readonly state: 'running' | 'done' | 'failed' | 'stopped';
  readonly bytesTotal: number;
  readonly problems: readonly ImportProblem[];
  /** How many rejected rows can be downloaded. */
  readonly rejectedRows: number;
  readonly createdAt: Date;
  readonly changedAt: Date;
}

/** The content of an uploaded file. */
export interface FileFacts {
  readonly size: number;
  readonly sha256: Buffer;
}

/** Imports of a target that are kept. */
const keptImports = 100;
/** Problems of an import that are kept. */
const maxProblems = 100;

const targetOf = ({ accountId, listId }: ImportTarget) => sql`
  account_id = ${accountId} and list_id is not distinct from ${listId ?? null}`;

/**
 * Registers an import, and removes the oldest ones of its target.
 * @returns its run; undefined if an import with this id exists
 */
export async function createImport(
  transaction: Kysely,
  key: ImportKey,
  { size, sha256 }: FileFacts,
  name: string | undefined,
): Promise<ImportRun | undefined> {
  const { accountId, listId, importId } = key;
  const runId = newId();
  const rows = await allRows(transaction)`
    insert into file_import (account_id, list_id, id, state, bytes_total, sha256, name, run_id)
    values (${accountId}, ${listId ?? null}, ${importId}, 'running', ${size}, ${sha256}, ${name ?? null}, ${runId})
    on conflict do nothing returning 1`;
  if (rows.length === 0) return undefined;
  await allRows(transaction)`
    with old as (
      delete from file_import where ${targetOf(key)} and id in (
        select id from file_import where ${targetOf(key)} order by created_at desc, id offset ${keptImports})
      returning id)
    delete from file_import_rejection where ${targetOf(key)} and import_id in (select id from old)`;
  return { ...key, runId };
}

/** An import without progress for this long has no process any more. */
const interrupted = sql`state = 'running' and changed_at < now() - interval '1 minute'`;

/**
 * Takes over a stopped import.
 * @returns its run; undefined if it isn't stopped or started with another file
 */
export async function continueImport(
  transaction: Kysely,
  key: ImportKey,
  { size, sha256 }: FileFacts,
): Promise<ImportRun | undefined> {
  const runId = newId();
  const rows = await allRows(transaction)`
    update file_import set state = 'running', run_id = ${runId}, changed_at = now(),
      problems = (select coalesce(jsonb_agg(p), '[]') from jsonb_array_elements(problems) p where p ->> 'line' <> '0')
    where ${targetOf(key)} and id = ${key.importId} and (state = 'stopped' or ${interrupted})
      and bytes_total = ${size} and sha256 = ${sha256}
    returning 1`;
  return rows.length === 0 ? undefined : { ...key, runId };
}

/** Saves the progress of a step with its rejected rows. @returns false if another process continues the import */
export async function saveStep(
  transaction: DatabaseTransaction,
  run: ImportRun,
  { counts, rejected, columns }: Omit<ImportStep<unknown>, 'items'>,
): Promise<boolean> {
  const problems = JSON.stringify(
    rejected.slice(0, maxProblems).map(({ line, reason }) => ({ line, reason })),
  );
  const row = await firstRow<{ kept: number; size: number }>(transaction)`
    update file_import
    set bytes_read = ${counts.bytesRead}, rows_read = ${counts.rowsRead}, rows_written = ${counts.rowsWritten},
      rows_wrong = ${counts.rowsWrong}, changed_at = now(), columns = ${columns},
      problems = (
        select coalesce(jsonb_agg(p order by n), '[]')
        from jsonb_array_elements(problems || ${problems}::jsonb) with ordinality as a (p, n) where n <= ${maxProblems})
    where ${targetOf(run)} and id = ${run.importId} and run_id = ${run.runId} and state = 'running'
    returning rejected_kept as kept, rejected_size as size`;
  if (row === undefined) return false;
  if (rejected.length > 0) await keepRejected(transaction, run, rejected, row);
  return true;
}

/** Ends a run. @param problem why, if it failed or stopped; shown before the problems of its rows */
export async function endImport(
  kysely: Kysely,
  run: ImportRun,
  state: 'done' | 'failed' | 'stopped',
  problem?: ImportProblem,
): Promise<void> {
  const problems = JSON.stringify(problem === undefined ? [] : [problem]);
  await allRows(kysely)`
    update file_import
    set state = ${state}, changed_at = now(), problems = ${problems}::jsonb || problems,
      bytes_read = case when ${state} = 'done' then bytes_total else bytes_read end
    where ${targetOf(run)} and id = ${run.importId} and run_id = ${run.runId} and state = 'running'`;
}

/** Reads an import. It counts as stopped after a minute without progress, because its process is gone. */
export async function readImport(
  kysely: Kysely,
  { importId, ...target }: ImportKey,
): Promise<ImportProgress | undefined> {
  const [found] = await readImports(kysely, target, importId);
  return found;
}

/** The latest imports into a target, newest first. */
export async function readImports(
  kysely: Kysely,
  target: ImportTarget,
  importId?: string,
): Promise<(ImportProgress & { readonly id: string })[]> {
  return await allRows<ImportProgress & { id: string }>(kysely)`
    select id, name, case when ${interrupted} then 'stopped' else state end as state,
      bytes_total::float8 as "bytesTotal", bytes_read::float8 as "bytesRead", rows_read as "rowsRead",
      rows_written as "rowsWritten", rows_wrong as "rowsWrong", case when ${rejectedAreKept} then rejected_kept else 0 end as "rejectedRows", problems,
      created_at as "createdAt", changed_at as "changedAt"
    from file_import
    where ${targetOf(target)} and (${importId ?? null}::uuid is null or id = ${importId ?? null})
    order by created_at desc, id limit ${keptImports}`;
}

/** Max rejected rows of an import that are kept, and their characters. */
const maxKeptRows = 10_000;
const maxKeptCharacters = 5_000_000;
const keptDays = 7;

/** Whether the rejected rows of a `file_import` haven't been removed by age. */
const rejectedAreKept = sql`changed_at > now() - make_interval(days => ${keptDays})`;

/** Keeps rejected rows as far as the limits allow. @param before what the import already keeps */
async function keepRejected(
  transaction: DatabaseTransaction,
  key: ImportKey,
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
  await allRows(transaction)`
    insert into file_import_rejection (account_id, list_id, import_id, row, line, reason, record)
    select ${key.accountId}, ${key.listId ?? null}, ${key.importId}, r.row, r.line, r.reason, r.record
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (row int, line int, reason text, record text[])
    on conflict do nothing`;
  await allRows(transaction)`
    update file_import set rejected_kept = ${kept}, rejected_size = ${size}
    where ${targetOf(key)} and id = ${key.importId}`;
}

function storable(value: string): string {
  return value.toWellFormed().replaceAll('\0', '\ufffd');
}

/** The columns of an import's file; undefined if there is no such import. */
export async function readImportColumns(
  kysely: Kysely,
  key: ImportKey,
): Promise<readonly string[] | undefined> {
  const row = await firstRow<{ columns: string[] | null }>(kysely)`
    select columns from file_import where ${targetOf(key)} and id = ${key.importId}`;
  return row === undefined ? undefined : (row.columns ?? []);
}

/** The next kept rows after one, in file order. */
export async function readRejected(
  kysely: Kysely,
  key: ImportKey,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<RejectedRow[]> {
  return await allRows<RejectedRow>(kysely)`
    select row, line, reason, record from file_import_rejection
    where ${targetOf(key)} and import_id = ${key.importId} and row > ${after}
    order by row limit ${limit}`;
}

/** Removes the rejected rows of old imports, which may contain personal data. */
export async function removeOldRejected(kysely: Kysely): Promise<void> {
  await allRows(kysely)`
    delete from file_import_rejection where created_at < now() - make_interval(days => ${keptDays})`;
}
