import { Type } from 'typebox';
import type { Access } from '../../../accounts/access/permission.ts';
import {
  NamedObject,
  Nullable,
  StrictObject,
  Text,
  Time,
  Uuid,
  Whole,
} from '../../../base/values/common-schemas.ts';
import { csvLine, withoutFormulaGuard } from '../../../base/values/csv-line.ts';
import { rejectionColumns } from '../../../content/list/contact-file.ts';
import { defineList } from '../answer/list-operations.ts';
import { notFound } from '../answer/problem.ts';
import { sendExport } from '../answer/send-download.ts';
import { viewOf } from '../answer/view-of.ts';
import { defineOperation, type OperationCall } from '../operation.ts';
import type { RouteRow } from '../resource-routes.ts';
import {
  type ImportKey,
  readImport,
  readImportColumns,
  readImports,
  readRejected,
} from './import-store.ts';
import { type ImportJob, receiveImport } from './receive-import.ts';

const progress = {
  name: Nullable(Text('Of the file.')),
  state: Type.Enum(['running', 'done', 'failed', 'stopped'], {
    description: '`stopped`: interrupted. Send the same file again to continue.',
  }),
  bytesTotal: Type.Integer(),
  bytesRead: Whole('Bytes of the file processed.'),
  rowsRead: Type.Integer(),
  rowsWritten: Whole('Rows added, updated or already up to date.'),
  rowsWrong: Whole('Invalid rows, which were skipped.'),
  problems: Type.Array(StrictObject({ line: Type.Integer(), reason: Type.String() }), {
    description: 'Problems of the first 100 invalid rows. Line 0 is about the file as a whole.',
  }),
  rejectedRows: Whole('How many of the invalid rows can be downloaded, for 7 days.'),
  createdAt: Time('When it started.'),
  changedAt: Time('When it last made progress.'),
};

const ImportView = NamedObject('FileImport', progress);
const ListedImportView = NamedObject('ListedFileImport', { id: Uuid, ...progress });

const viewImport = viewOf(ImportView);
const viewListed = viewOf(ListedImportView);

/** Documentation of an endpoint. */
type Described = Readonly<Record<'id' | 'summary', string>> & { readonly description?: string };

interface ImportRoutes<Item extends object> extends ImportJob<Item> {
  /** Of all imports. */
  readonly path: string;
  readonly access: { readonly read: Access; readonly write: Access };
  readonly list: Described;
  readonly get: Described;
  readonly put: Described;
  readonly rejected: Described;
  /** The list that contacts are imported into; undefined: suppressions. */
  readonly listOf: (call: OperationCall) => ImportKey['listId'];
  /** Runs first, to check that the target exists. */
  requireTarget?(call: OperationCall): Promise<void>;
}

/** Route table rows of the imports into a target. */
export function importRoutes<Item extends object>(routes: ImportRoutes<Item>): RouteRow[] {
  const { path, access, list, get, put, rejected, listOf, requireTarget, ...job } = routes;
  const keyOf = (call: OperationCall) => ({
    accountId: call.params.accountId,
    listId: listOf(call),
    importId: call.params.importId,
  });
  const handle = async (call: OperationCall) => {
    const found = await readImport(call.kysely, keyOf(call));
    if (found === undefined) throw notFound('import');
    return viewImport(found);
  };
  const listImports = defineList({
    ...list,
    item: ListedImportView,
    async read(call) {
      await requireTarget?.(call);
      const found = await readImports(call.kysely, keyOf(call));
      return found.map((one) => viewListed(one));
    },
  });
  const putImport = defineOperation({
    ...put,
    query: StrictObject({
      name: Type.Optional(Text('Name of the file, to recognize it.', { maxLength: 200 })),
    }),
    body: Text('CSV file, up to 1 GiB.'),
    accepts: 'text/csv',
    answer: ImportView,
    status: 202,
    limited: true,
    conditional: true,
    async handle(call) {
      await requireTarget?.(call);
      await receiveImport(call, keyOf(call), job, viewImport);
      return handle(call);
    },
  });
  const downloadRejected = defineOperation({
    ...rejected,
    produces: 'text/csv',
    handle: (call) => sendRejected(call, keyOf(call)),
  });
  return [
    ['GET', path, access.read, listImports],
    [
      'GET',
      `${path}/:importId`,
      access.read,
      defineOperation({ ...get, answer: ImportView, handle }),
    ],
    ['PUT', `${path}/:importId`, access.write, putImport],
    ['GET', `${path}/:importId/rejected`, access.read, downloadRejected],
  ];
}

const rowsPerPage = 500;

/** Sends the rejected rows of an import as a CSV file. @throws Problem if the import doesn't exist */
async function sendRejected(call: OperationCall, key: ImportKey): Promise<void> {
  const columns = await readImportColumns(call.kysely, key);
  if (columns === undefined) throw notFound('import');
  sendExport(call, 'rejected-rows.csv', writeRejected(call, key, columns));
}

/** Streams page by page to bound memory. */
async function* writeRejected(
  { kysely }: OperationCall,
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
