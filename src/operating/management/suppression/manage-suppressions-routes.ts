import { Type } from 'typebox';
import { checkLimits } from '../../../accounts/account/account-limit-store.ts';
import type { DatabaseTransaction } from '../../../base/database/open-database.ts';
import { addressHashKey, auditIdOf } from '../../../base/secrets/hash-address.ts';
import {
  DescribedObject,
  NamedObject,
  Nullable,
  StrictObject,
  Text,
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
  suppressionReasons,
} from '../../../content/suppression/suppression.ts';
import {
  addSuppressions,
  findSuppressions,
  readSuppressions,
  removeSuppression,
} from '../../../content/suppression/suppression-store.ts';
import { definePages } from '../answer/list-operations.ts';
import { notFound } from '../answer/problem.ts';
import { sendExport } from '../answer/send-download.ts';
import { viewOf } from '../answer/view-of.ts';
import { InvalidImportFile, type RowReader } from '../import/import-csv.ts';
import { importRoutes } from '../import/import-routes.ts';
import { defineOperation, type OperationCall } from '../operation.ts';
import { resourceRoutes } from '../resource-routes.ts';

const Reason = Type.Enum([...suppressionReasons], {
  description:
    'Why the address is suppressed. `unsubscribe` applies to non-transactional mail only.',
});

const SuppressionView = NamedObject('Suppression', {
  address: Type.String(),
  reason: Reason,
  messageId: Nullable(Text('The message that caused it.')),
  createdAt: Time('When it was suppressed.'),
  expiresAt: Nullable(Time('When it expires; null: never.')),
});

const AddressView = NamedObject('SuppressedAddress', { items: Type.Array(SuppressionView) });

function addressOf(call: OperationCall): ComparableAddress {
  return call.params.address as ComparableAddress;
}

export const listSuppressions = definePages({
  id: 'listSuppressions',
  summary: 'List suppressed addresses, newest first',
  filters: {
    contains: Type.Optional(Text('Part of the address, case-insensitive.', { maxLength: 320 })),
    reason: Type.Optional(Reason),
  },
  item: SuppressionView,
  cursor: ['time', 'text', 'text'],
  read: ({ kysely, params, query: { contains, reason } }, { after, limit }) =>
    findSuppressions(kysely, params.accountId, {
      contains: contains?.toLowerCase(),
      reason,
      after: after && { createdText: after[0], address: after[1], reason: after[2] },
      limit,
    }),
  view: (entry) => viewOf(SuppressionView)(entry),
  place: ({ createdText, address, reason }) => [createdText, address, reason],
});

function suppressionsOf(call: OperationCall) {
  return {
    kind: 'suppression',
    unrecorded: ['items'] as const,
    id: auditIdOf(addressHashKey(call.dependencies.key), addressOf(call)),
    async read(transaction: DatabaseTransaction) {
      const items = await readSuppressions(transaction, call.params.accountId, addressOf(call));
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
      return addSuppressions(transaction, call.params.accountId, [entry]);
    },
  },
  remove: {
    id: 'deleteSuppression',
    summary: 'Remove the suppression of an address',
    query: DescribedObject('Default: all reasons.', { reason: Type.Optional(Reason) }),
    write: (call) => async (transaction) => {
      const { accountId } = call.params;
      const { reason } = call.query;
      const removed = await removeSuppression(transaction, accountId, addressOf(call), reason);
      if (removed === 0) throw notFound('suppression');
    },
  },
});

export const exportSuppressionList = defineOperation({
  id: 'exportSuppressions',
  summary: 'Export suppressions as CSV',
  produces: 'text/csv',
  async handle(call) {
    const content = exportSuppressions(call.dependencies.database, call.params.accountId);
    sendExport(call, 'suppressions.csv', content);
  },
});

export const suppressionImportRoutes = importRoutes({
  path: '/accounts/:accountId/suppressions-imports',
  access: { read: 'suppressions:read', write: 'suppressions:write' },
  list: {
    id: 'listSuppressionImports',
    summary: 'List recent suppression imports, newest first',
  },
  get: { id: 'getSuppressionImport', summary: 'Get a suppression import' },
  put: {
    id: 'importSuppressions',
    summary: 'Import suppressions from a CSV file',
    description:
      'Uses the format of the export. Only the `address` column is required; a missing reason defaults to `manual`. Values are separated by commas, semicolons or tabs. Returns after the upload and imports the file in the background. Poll this URL for progress. Invalid rows are skipped. Repeating an ID continues an import that stopped, and otherwise imports nothing.',
  },
  rejected: {
    id: 'downloadRejectedSuppressions',
    summary: 'Download the rejected rows of a suppression import',
    description: 'The rows as they were, with their line and problem.',
  },
  listOf: () => undefined,
  event: 'suppressions_imported',
  open: suppressionRowReader,
  async write(transaction, entries, { params: { accountId } }) {
    const added = await addSuppressions(transaction, accountId, entries);
    if (added > 0) await checkLimits(transaction, accountId, ['suppressions']);
  },
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
