import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { checkLimits } from '../../../accounts/account/account-limit-store.ts';
import type { DatabaseTransaction } from '../../../base/database/open-database.ts';
import { addressHashKey, auditIdOf } from '../../../base/secrets/hash-address.ts';
import {
  NamedObject,
  Nullable,
  StrictObject,
  strict,
  Time,
} from '../../../base/values/common-schemas.ts';
import {
  describeRepeatedColumn,
  findAddressColumn,
  findUndecoded,
  visibleText,
  withoutUnnamedEnd,
} from '../../../base/values/csv-file.ts';
import { withoutFormulaGuard } from '../../../base/values/csv-line.ts';
import {
  type ComparableAddress,
  normalizeAddress,
  parseEmailAddress,
} from '../../../base/values/email-address.ts';
import { parseMessageId } from '../../../base/values/ids.ts';
import { parseTimestamp } from '../../../base/values/parse-timestamp.ts';
import { exportSuppressions } from '../../../content/suppression/export-suppressions.ts';
import {
  type NewSuppression,
  parseSuppressionReason,
  type Suppression,
  suppressionReasons,
} from '../../../content/suppression/suppression.ts';
import {
  addSuppressions,
  findSuppressions as readPage,
  readSuppressions,
  removeSuppression,
} from '../../../content/suppression/suppression-store.ts';
import { pageOf, pageQuery, pageSizeOf, readCursor, toPage } from '../answer/page.ts';
import { notFound } from '../answer/problem.ts';
import { InvalidImportFile, type RowReader } from '../import/import-csv.ts';
import {
  ImportView,
  ListedImportView,
  requireImport,
  sendRejected,
  viewImports,
} from '../import/import-view.ts';
import { importQuery, receiveImport } from '../import/receive-import.ts';
import { accountOf, defineOperation, type OperationCall } from '../operation.ts';
import { resourceRoutes } from '../resource-routes.ts';

const Reason = Type.Enum([...suppressionReasons], {
  description:
    'Why the address is suppressed. `unsubscribe` applies to non-transactional mail only.',
});

const SuppressionView = NamedObject('Suppression', {
  address: Type.String(),
  reason: Reason,
  messageId: Nullable(Type.String({ description: 'The message that caused it.' })),
  createdAt: Time('When it was suppressed.'),
  expiresAt: Nullable(Time('When it expires; null: never.')),
});

const AddressView = NamedObject('SuppressedAddress', { items: Type.Array(SuppressionView) });

function addressOf(call: OperationCall): ComparableAddress {
  return call.params.address as ComparableAddress;
}

export const listSuppressions = defineOperation({
  id: 'listSuppressions',
  summary: 'List suppressed addresses, newest first',
  query: pageQuery({
    contains: Type.Optional(
      Type.String({ description: 'Part of the address, case-insensitive.', maxLength: 320 }),
    ),
    reason: Type.Optional(Reason),
  }),
  answer: pageOf(SuppressionView),
  async handle(call) {
    const limit = pageSizeOf(call.query);
    const [createdText, address, reason] = readCursor(call.query, 'time', 'text', 'text') ?? [];
    const rows = await readPage(call.dependencies.database.kysely, accountOf(call).id, {
      contains: call.query.contains?.toLowerCase(),
      reason: call.query.reason,
      after:
        createdText === undefined || address === undefined || reason === undefined
          ? undefined
          : { createdText, address, reason },
      limit: limit + 1,
    });
    return toPage(
      rows,
      limit,
      ({ createdText: _, ...entry }): Suppression => entry,
      (last) => [last.createdText, last.address, last.reason],
    );
  },
});

function suppressionsOf(call: OperationCall) {
  return {
    kind: 'suppression',
    unrecorded: ['items'] as const,
    id: auditIdOf(addressHashKey(call.dependencies.key), addressOf(call)),
    async read(transaction: DatabaseTransaction) {
      const items = await readSuppressions(transaction, accountOf(call).id, addressOf(call));
      return items.length === 0 ? undefined : { items };
    },
  };
}

export const suppressionRoutes = resourceRoutes({
  path: '/accounts/:accountId/suppressions/:address',
  access: { read: 'suppressions:read', write: 'suppressions:write' },
  view: AddressView,
  resource: suppressionsOf,
  get: { id: 'getSuppression', summary: 'Get the suppressions of an address' },
  put: {
    id: 'putSuppression',
    summary: 'Suppress an address',
    description: 'Existing reasons are kept. If omitted, the reason is `manual`.',
    body: StrictObject({ reason: Type.Optional(Reason) }),
    write: (call) => (transaction) => {
      const { reason = 'manual' } = call.body;
      const entry = { address: addressOf(call), reason };
      return addSuppressions(transaction, accountOf(call).id, [entry]);
    },
  },
  remove: {
    id: 'deleteSuppression',
    summary: 'Remove the suppression of an address',
    query: Type.Object(
      { reason: Type.Optional(Reason) },
      { ...strict, description: 'Default: all reasons.' },
    ),
    write: (call) => async (transaction) => {
      const { reason } = call.query;
      const { id } = accountOf(call);
      const removed = await removeSuppression(transaction, id, addressOf(call), reason);
      if (removed === 0) throw notFound('suppression');
    },
  },
});

export const exportSuppressionList = defineOperation({
  id: 'exportSuppressions',
  summary: 'Export suppressions as CSV',
  produces: 'text/csv',
  async handle(call) {
    call.reply
      .header('content-disposition', 'attachment; filename="suppressions.csv"')
      .type('text/csv; charset=utf-8')
      .send(Readable.from(exportSuppressions(call.dependencies.database, accountOf(call).id)));
    return undefined;
  },
});

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
 * Reads suppressions from rows in the export format. Only the column of addresses is required; a missing reason defaults to
 * `manual`.
 * @throws InvalidImportFile
 */
function suppressionRowReader(header: readonly string[]): RowReader<NewSuppression> {
  const columns = withoutUnnamedEnd(header);
  const columnIndexes = new Map<string, number>();
  for (const [index, column] of columns.entries()) {
    const name = visibleText(column).toLowerCase();
    if (columnIndexes.has(name)) throw new InvalidImportFile(describeRepeatedColumn(name));
    columnIndexes.set(name, index);
  }
  const addressColumn = findAddressColumn(columns, 'address');
  if (typeof addressColumn === 'string') throw new InvalidImportFile(addressColumn);
  return {
    read(record) {
      const cell = (name: string) => (record[columnIndexes.get(name) ?? -1] ?? '').trim();
      const unreadable = findUndecoded(record);
      if (unreadable !== undefined) return unreadable;
      const parsed = parseEmailAddress(
        visibleText(withoutFormulaGuard(record[addressColumn] ?? '')),
      );
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
