import { Type } from 'typebox';
import { addSuppressions } from '../../feedback/suppression/suppression-store.ts';
import { pageOf } from '../answer/page.ts';
import { ImportView, ListedImportView, requireImport, viewImports } from '../import/import-view.ts';
import { receiveImport } from '../import/receive-import.ts';
import { accountOf, defineOperation, type OperationCall } from '../operation.ts';
import { suppressionRowReader } from './suppression-row-reader.ts';

function targetOf(call: OperationCall) {
  return { accountId: accountOf(call).id, listId: undefined };
}

function importKeyOf(call: OperationCall) {
  return { ...targetOf(call), importId: call.params.importId };
}

export const importSuppressions = defineOperation({
  id: 'importSuppressions',
  summary: 'Suppress the addresses of a CSV file, as the export writes it',
  description:
    'Only the column `address` must be there; a missing reason means `manual`. Answers when the file is here; then its import goes on, and this address tells how far it is. Lines with problems are left out. The same id again imports nothing.',
  body: Type.String({ description: 'The file, up to 1 GiB.' }),
  accepts: 'text/csv',
  answer: ImportView,
  status: 202,
  limited: true,
  conditional: true,
  handle(call) {
    const name = importKeyOf(call);
    return receiveImport(call, {
      name,
      event: { kind: 'suppressions_imported', id: 'suppressions' },
      open: suppressionRowReader,
      write: async (kysely, entries) => {
        await addSuppressions(kysely, name.accountId, entries);
      },
    });
  },
});

export const getSuppressionImport = defineOperation({
  id: 'getSuppressionImport',
  summary: 'Ask how far an import of suppressions is',
  answer: ImportView,
  handle: (call) => requireImport(call, importKeyOf(call)),
});

export const listSuppressionImports = defineOperation({
  id: 'listSuppressionImports',
  summary: 'List the last imports of suppressions, newest first',
  answer: pageOf(ListedImportView),
  handle: (call) => viewImports(call, targetOf(call)),
});
