import { Readable } from 'node:stream';
import { type Static, Type } from 'typebox';
import type { Database } from '../../../base/database/open-database.ts';
import {
  NamedObject,
  Nullable,
  StrictObject,
  Time,
  Uuid,
} from '../../../base/values/common-schemas.ts';
import { csvLine, withoutFormulaGuard } from '../../../base/values/csv-line.ts';
import type { Wire } from '../../../base/values/wire.ts';
import { rejectionColumns } from '../../../content/list/contact-file.ts';
import { notFound } from '../answer/problem.ts';
import type { OperationCall } from '../operation.ts';
import {
  type ImportKey,
  type ImportProgress,
  type ImportTarget,
  readImport,
  readImportColumns,
  readImports,
  readRejected,
} from './import-store.ts';

const progress = {
  name: Nullable(Type.String({ description: 'Of the file.' })),
  state: Type.Enum(['running', 'done', 'failed', 'stopped'], {
    description: '`stopped`: interrupted. Send the same file again to continue.',
  }),
  bytesTotal: Type.Integer(),
  bytesRead: Type.Integer({ description: 'Bytes of the file processed.' }),
  rowsRead: Type.Integer(),
  rowsWritten: Type.Integer({
    description: 'Rows added, updated or already up to date.',
  }),
  rowsWrong: Type.Integer({ description: 'Invalid rows, which were skipped.' }),
  problems: Type.Array(StrictObject({ line: Type.Integer(), reason: Type.String() }), {
    description: 'Problems of the first 100 invalid rows. Line 0 is about the file as a whole.',
  }),
  rejectedRows: Type.Integer({
    description: 'How many of the invalid rows can be downloaded, for 7 days.',
  }),
  createdAt: Time('When it started.'),
  changedAt: Time('When it last made progress.'),
};

export const ImportView = NamedObject('FileImport', progress);
export const ListedImportView = NamedObject('ListedFileImport', { id: Uuid, ...progress });

export function viewProgress(found: ImportProgress): Wire<Static<typeof ImportView>> {
  const { name, state, bytesTotal, bytesRead, rowsRead, rowsWritten, rowsWrong, problems } = found;
  const { rejectedRows, createdAt, changedAt } = found;
  return {
    name,
    state,
    bytesTotal,
    bytesRead,
    rowsRead,
    rowsWritten,
    rowsWrong,
    problems: [...problems],
    rejectedRows,
    createdAt,
    changedAt,
  };
}

/** The most recent imports into a target, newest first. */
export async function viewImports(call: Pick<OperationCall, 'dependencies'>, target: ImportTarget) {
  const items = await readImports(call.dependencies.database.kysely, target);
  return { items: items.map((item) => ({ id: item.id, ...viewProgress(item) })), nextCursor: null };
}

/** @throws Problem if the import doesn't exist */
export async function requireImport(
  call: Pick<OperationCall, 'dependencies'>,
  name: ImportKey,
): Promise<Wire<Static<typeof ImportView>>> {
  const found = await readImport(call.dependencies.database.kysely, name);
  if (found === undefined) throw notFound('import');
  return viewProgress(found);
}

const rowsPerPage = 500;

/** Sends the rejected rows of an import as a CSV file. @throws Problem if the import doesn't exist */
export async function sendRejected(
  { dependencies, reply }: Pick<OperationCall, 'dependencies' | 'reply'>,
  key: ImportKey,
): Promise<undefined> {
  const { kysely } = dependencies.database;
  const columns = await readImportColumns(kysely, key);
  if (columns === undefined) throw notFound('import');
  reply
    .header('content-disposition', 'attachment; filename="rejected-rows.csv"')
    .type('text/csv; charset=utf-8')
    .send(Readable.from(writeRejected(kysely, key, columns)));
  return undefined;
}

/** Streams page by page to bound memory. */
async function* writeRejected(
  kysely: Database['kysely'],
  key: ImportKey,
  columns: readonly string[],
): AsyncGenerator<string> {
  // A file with corrected rows already has these columns.
  const added = new Set(
    columns.flatMap((name, index) =>
      rejectionColumns.some((one) => one === name.trim()) ? [index] : [],
    ),
  );
  const withoutAdded = (record: readonly string[]) =>
    record.filter((_, index) => !added.has(index)).map(withoutFormulaGuard);
  yield csvLine([...rejectionColumns, ...withoutAdded(columns)]);
  let after = 0;
  for (;;) {
    const page = await readRejected(kysely, key, { after, limit: rowsPerPage });
    const last = page.at(-1);
    if (last === undefined) return;
    yield page
      .map(({ record, line, reason }) => csvLine([line, reason, ...withoutAdded(record)]))
      .join('');
    after = last.row;
  }
}
