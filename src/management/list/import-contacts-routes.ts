import { Type } from 'typebox';
import { writeContacts } from '../../list/contact-store.ts';
import { pageOf } from '../answer/page.ts';
import { ImportView, ListedImportView, requireImport, viewImports } from '../import/import-view.ts';
import { receiveImport } from '../import/receive-import.ts';
import { accountOf, defineOperation, type OperationCall } from '../operation.ts';
import { contactRowReader } from './contact-row-reader.ts';
import { requireList } from './manage-lists-routes.ts';

function importKeyOf(call: OperationCall) {
  const { listId, importId } = call.params;
  return { accountId: accountOf(call).id, listId, importId };
}

export const putImport = defineOperation({
  id: 'putImport',
  summary: 'Import contacts from a CSV file',
  description:
    'The first row contains the column names, including `email`. Returns after the upload and imports the file in the background. Poll this URL for progress. Contacts that aren’t in the file are kept. Repeating an ID imports nothing.',
  body: Type.String({ description: 'CSV file, up to 1 GiB.' }),
  accepts: 'text/csv',
  answer: ImportView,
  status: 202,
  limited: true,
  conditional: true,
  async handle(call) {
    await requireList(call);
    const name = importKeyOf(call);
    return receiveImport(call, {
      name,
      event: { kind: 'contacts_imported', id: name.listId },
      open: contactRowReader,
      // One transaction per batch, so the list size stays right even if the import fails midway.
      write: (kysely, contacts) =>
        kysely.transaction().execute((transaction) => writeContacts(transaction, name, contacts)),
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
