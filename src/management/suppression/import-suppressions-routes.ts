import { Type } from 'typebox';
import { checkLimits } from '../../account/account-limit-store.ts';
import {
  type NewSuppression,
  parseSuppressionReason,
} from '../../feedback/suppression/suppression.ts';
import { addSuppressions } from '../../feedback/suppression/suppression-store.ts';
import {
  describeMissingColumn,
  findUndecoded,
  withoutFormulaGuard,
} from '../../foundation/csv-line.ts';
import { normalizeAddress, parseEmailAddress } from '../../foundation/email-address.ts';
import { parseMessageId } from '../../foundation/ids.ts';
import { parseTimestamp } from '../../foundation/parse-timestamp.ts';
import { pageOf } from '../answer/page.ts';
import { sendRejected } from '../import/download-rejected.ts';
import { InvalidImportFile, type RowReader } from '../import/import-csv.ts';
import { ImportView, ListedImportView, requireImport, viewImports } from '../import/import-view.ts';
import { importQuery, receiveImport } from '../import/receive-import.ts';
import { accountOf, defineOperation, type OperationCall } from '../operation.ts';

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

/**
 * Reads suppressions from rows in the export format. Only the `address` column is required; a missing reason defaults to
 * `manual`.
 * @throws InvalidImportFile
 */
function suppressionRowReader(columns: readonly string[]): RowReader<NewSuppression> {
  const names = columns.map((name) => name.trim().toLowerCase());
  const repeated = names.find((name, index) => names.indexOf(name) < index);
  if (repeated !== undefined)
    throw new InvalidImportFile(`Two columns are named “${repeated}”. Rename one`);
  const columnIndexes = new Map(names.map((name, index) => [name, index]));
  if (!columnIndexes.has('address'))
    throw new InvalidImportFile(describeMissingColumn('address', columns));
  return {
    read(record) {
      const cell = (name: string) => (record[columnIndexes.get(name) ?? -1] ?? '').trim();
      const unreadable = findUndecoded(record);
      if (unreadable !== undefined) return unreadable;
      const parsed = parseEmailAddress(withoutFormulaGuard(cell('address')));
      if (!parsed.ok) return `The address ${parsed.reason}`;
      const reason = parseSuppressionReason(cell('reason') || 'manual');
      if (reason === undefined)
        return 'The reason must be hard_bounce, complaint, unsubscribe or manual';
      const expires = cell('expires_at');
      const expiresAt = parseTimestamp(expires);
      if (expires !== '' && expiresAt === undefined)
        return 'expires_at must be a time such as 2026-12-31T00:00:00Z';
      return {
        address: normalizeAddress(parsed.address),
        reason,
        messageId: parseMessageId(cell('message_id')),
        expiresAt,
      };
    },
    keyOf: ({ address, reason }) => `${address} ${reason}`,
  };
}
