import { Readable } from 'node:stream';
import { csvLine, withoutFormulaGuard } from '../../foundation/csv-line.ts';
import type { Database } from '../../foundation/database/open-database.ts';
import { rejectionColumns } from '../../list/contact-file.ts';
import { notFound } from '../answer/problem.ts';
import type { OperationCall } from '../operation.ts';
import type { ImportKey } from './import-key.ts';
import { readImportColumns, readRejected } from './rejection-store.ts';

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
