import { Readable } from 'node:stream';
import { csvLine } from '../../feedback/csv-line.ts';
import type { Database } from '../../foundation/database/open-database.ts';
import { notFound } from '../answer/problem.ts';
import type { OperationCall } from '../operation.ts';
import { rejectionColumns } from './import-csv.ts';
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
  const own = columns.map((name) => !rejectionColumns.some((one) => one === name));
  yield csvLine([...columns.filter((_, index) => own[index]), ...rejectionColumns]);
  let after = 0;
  for (;;) {
    const page = await readRejected(kysely, key, { after, limit: rowsPerPage });
    const last = page.at(-1);
    if (last === undefined) return;
    yield page
      .map(({ record, line, reason }) => {
        const values = columns.flatMap((_, index) => (own[index] ? [record[index] ?? ''] : []));
        return csvLine([...values, line, reason]);
      })
      .join('');
    after = last.row;
  }
}
