import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { exportSuppressions } from '../../feedback/suppression/export-suppressions.ts';
import { type Suppression, suppressionReasons } from '../../feedback/suppression/suppression.ts';
import {
  addSuppressions,
  findSuppressions as readPage,
  readSuppressions,
  removeSuppression,
} from '../../feedback/suppression/suppression-store.ts';
import { Nullable, strict, Time } from '../../foundation/common-schemas.ts';
import type { DatabaseTransaction } from '../../foundation/database/open-database.ts';
import type { ComparableAddress } from '../../foundation/email-address.ts';
import { addressHashKey, auditIdOf } from '../../foundation/hash-address.ts';
import { pageOf, pageQuery, pageSizeOf, readCursor, toPage } from '../answer/page.ts';
import { notFound } from '../answer/problem.ts';
import { accountOf, defineOperation, type OperationCall } from '../operation.ts';
import { resourceRoutes } from '../resource-routes.ts';

const Reason = Type.Enum([...suppressionReasons], {
  description:
    'Why the address is suppressed. `unsubscribe` applies to non-transactional mail only.',
});

const SuppressionView = Type.Object(
  {
    address: Type.String(),
    reason: Reason,
    messageId: Nullable(Type.String({ description: 'The message that caused it.' })),
    createdAt: Time('When it was suppressed.'),
    expiresAt: Nullable(Time('When it expires; null: never.')),
  },
  { ...strict, title: 'Suppression' },
);

const AddressView = Type.Object(
  { items: Type.Array(SuppressionView) },
  { ...strict, title: 'SuppressedAddress' },
);

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
    body: Type.Object({ reason: Type.Optional(Reason) }, strict),
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
