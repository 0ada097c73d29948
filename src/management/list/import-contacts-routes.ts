import { Type } from 'typebox';
import { pageOf } from '../answer/page.ts';
import { accountOf, type Call, endpoint } from '../endpoint.ts';
import { ImportView, ListedImportView, requireImport, viewImports } from '../import/import-view.ts';
import { receiveImport } from '../import/receive-import.ts';
import { writeContacts } from './contact-page-store.ts';
import { contactRows } from './contact-rows.ts';
import { requireList } from './manage-lists-routes.ts';

function nameOf(call: Call) {
  const { listId, importId } = call.params;
  return { accountId: accountOf(call).id, listId, importId };
}

export const putImport = endpoint({
  id: 'putImport',
  summary: 'Import contacts from a CSV file',
  description:
    'The first row names the columns, one of them `email`. Answers when the file is here; then its import goes on, and this address tells how far it is. Contacts that the file does not name stay. The same id again imports nothing.',
  body: Type.String({ description: 'The file, up to 1 GiB.' }),
  accepts: 'text/csv',
  answer: ImportView,
  status: 202,
  limited: true,
  conditional: true,
  async handle(call) {
    await requireList(call);
    const name = nameOf(call);
    return receiveImport(call, {
      name,
      event: { kind: 'contacts_imported', id: name.listId },
      open: contactRows,
      // However the import ends, what it has written is counted.
      write: (kysely, contacts) =>
        kysely.transaction().execute((transaction) => writeContacts(transaction, name, contacts)),
    });
  },
});

export const getImport = endpoint({
  id: 'getImport',
  summary: 'Ask how far an import is',
  answer: ImportView,
  handle: (call) => requireImport(call, nameOf(call)),
});

export const listImports = endpoint({
  id: 'listImports',
  summary: 'List the last imports into a list, newest first',
  answer: pageOf(ListedImportView),
  async handle(call) {
    await requireList(call);
    const { accountId, listId } = nameOf(call);
    return viewImports(call, { accountId, listId });
  },
});
