import { Type } from 'typebox';
import { checkLimits } from '../../account/account-limit-store.ts';
import { addSuppressions } from '../../feedback/suppression/suppression-store.ts';
import { pageOf } from '../answer/page.ts';
import { sendRejected } from '../import/download-rejected.ts';
import { ImportView, ListedImportView, requireImport, viewImports } from '../import/import-view.ts';
import { importQuery, receiveImport } from '../import/receive-import.ts';
import { accountOf, defineOperation, type OperationCall } from '../operation.ts';
import { suppressionRowReader } from './suppression-row-reader.ts';

function targetOf(call: Pick<OperationCall, 'account'>) {
  return { accountId: accountOf(call).id, listId: undefined };
}

function importKeyOf(call: Pick<OperationCall, 'account' | 'params'>) {
  return { ...targetOf(call), importId: call.params.importId };
}

export const importSuppressions = defineOperation({
  id: 'importSuppressions',
  summary: 'Import suppressions from a CSV file',
  description:
    'Uses the format of the export. Only the `address` column is required; a missing reason defaults to `manual`. Values are separated by commas, semicolons or tabs. Returns after the upload and imports the file in the background. Poll this URL for progress. Invalid rows are skipped. Repeating an ID continues an import that stopped, and otherwise imports nothing.',
  query: importQuery,
  body: Type.String({ description: 'CSV file, up to 1 GiB.' }),
  accepts: 'text/csv',
  answer: ImportView,
  status: 202,
  limited: true,
  conditional: true,
  handle(call) {
    const key = importKeyOf(call);
    return receiveImport(call, {
      key,
      event: { kind: 'suppressions_imported', id: 'suppressions' },
      open: suppressionRowReader,
      async write(transaction, entries) {
        const added = await addSuppressions(transaction, key.accountId, entries);
        if (added > 0) await checkLimits(transaction, key.accountId, ['suppressions']);
      },
    });
  },
});

export const getSuppressionImport = defineOperation({
  id: 'getSuppressionImport',
  summary: 'Get a suppression import',
  answer: ImportView,
  handle: (call) => requireImport(call, importKeyOf(call)),
});

export const listSuppressionImports = defineOperation({
  id: 'listSuppressionImports',
  summary: 'List recent suppression imports, newest first',
  answer: pageOf(ListedImportView),
  handle: (call) => viewImports(call, targetOf(call)),
});

export const downloadRejectedSuppressions = defineOperation({
  id: 'downloadRejectedSuppressions',
  summary: 'Download the rejected rows of a suppression import',
  description: 'The rows as they were, with their line and problem.',
  produces: 'text/csv',
  handle: (call) => sendRejected(call, importKeyOf(call)),
});
