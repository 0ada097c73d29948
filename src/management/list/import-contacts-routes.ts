import { Type } from 'typebox';
import { type FileContact, readContactHeader } from '../../list/contact-file.ts';
import { writeContacts } from '../../list/contact-store.ts';
import { pageOf } from '../answer/page.ts';
import { sendRejected } from '../import/download-rejected.ts';
import { InvalidImportFile, type RowReader } from '../import/import-csv.ts';
import { ImportView, ListedImportView, requireImport, viewImports } from '../import/import-view.ts';
import { importQuery, receiveImport } from '../import/receive-import.ts';
import { accountOf, defineOperation, type OperationCall } from '../operation.ts';
import { requireList } from './manage-lists-routes.ts';

function importKeyOf(call: Pick<OperationCall, 'account' | 'params'>) {
  const { listId, importId } = call.params;
  return { accountId: accountOf(call).id, listId, importId };
}

/** @throws InvalidImportFile */
function openContacts(header: readonly string[]): RowReader<FileContact> {
  const read = readContactHeader(header);
  if (typeof read === 'string') throw new InvalidImportFile(read);
  return { read, keyOf: ({ email }) => email };
}

export const putImport = defineOperation({
  id: 'putImport',
  summary: 'Import contacts from a CSV file',
  description:
    'The first row contains the column names, including `email`; values are separated by commas, semicolons or tabs. Returns after the upload and imports the file in the background. Poll this URL for progress. Contacts that aren’t in the file are kept. Repeating an ID continues an import that stopped, and otherwise imports nothing.',
  query: importQuery,
  body: Type.String({ description: 'CSV file, up to 1 GiB.' }),
  accepts: 'text/csv',
  answer: ImportView,
  status: 202,
  limited: true,
  conditional: true,
  async handle(call) {
    await requireList(call);
    const key = importKeyOf(call);
    return receiveImport(call, {
      key,
      event: { kind: 'contacts_imported', id: key.listId },
      open: openContacts,
      write: (transaction, contacts) => writeContacts(transaction, key, contacts),
    });
  },
});

export const getImport = defineOperation({
  id: 'getImport',
  summary: 'Get a contact import',
  answer: ImportView,
  handle: (call) => requireImport(call, importKeyOf(call)),
});

export const listImports = defineOperation({
  id: 'listImports',
  summary: 'List recent imports into a list, newest first',
  answer: pageOf(ListedImportView),
  async handle(call) {
    await requireList(call);
    const { accountId, listId } = importKeyOf(call);
    return viewImports(call, { accountId, listId });
  },
});

export const downloadRejectedContacts = defineOperation({
  id: 'downloadRejectedContacts',
  summary: 'Download the rejected rows of a contact import',
  description:
    'The rejected rows as uploaded, with their line and problem. Correct them and import the file again; the two added columns are ignored.',
  produces: 'text/csv',
  handle: (call) => sendRejected(call, importKeyOf(call)),
});
