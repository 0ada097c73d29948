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
import type { DatabaseTransaction } from '../../foundation/database/open-database.ts';
import type { ComparableAddress } from '../../foundation/email-address.ts';
import { Nullable, strict, Time } from '../answer/common-schemas.ts';
import { pageOf, pageQuery, pageSizeOf, readCursor, toPage } from '../answer/page.ts';
import { notFound } from '../answer/problem.ts';
import { removeResource, requireResource, saveResource } from '../change-resource.ts';
import { accountOf, defineOperation, type OperationCall } from '../operation.ts';

const Reason = Type.Enum([...suppressionReasons], {
  description: 'Why; `unsubscribe` holds for non-transactional mail only.',
});

const SuppressionView = Type.Object(
  {
    address: Type.String(),
    reason: Reason,
    messageId: Nullable(Type.String({ description: 'The message that led to it.' })),
    createdAt: Time('Since when.'),
    expiresAt: Nullable(Time('When it ends by itself.')),
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
  summary: 'List suppressed addresses',
  query: pageQuery({
    contains: Type.Optional(
      Type.String({ description: 'Part of the address, in any case.', maxLength: 320 }),
    ),
    reason: Type.Optional(Reason),
  }),
  answer: pageOf(SuppressionView),
  async handle(call) {
    const limit = pageSizeOf(call.query);
    const cursor = readCursor(call.query, 'text', 'text');
    const rows = await readPage(call.dependencies.database.kysely, accountOf(call).id, {
      contains: call.query.contains?.toLowerCase(),
      reason: call.query.reason,
      after: cursor && { address: cursor[0] ?? '', reason: cursor[1] ?? '' },
      limit: limit + 1,
    });
    return toPage<Suppression, Suppression>(
      rows,
      limit,
      (row) => row,
      ({ address, reason }) => [address, reason],
    );
  },
});

function suppressionChange(call: OperationCall) {
  return {
    kind: 'suppression',
    id: addressOf(call),
    async read(transaction: DatabaseTransaction) {
      const items = await readSuppressions(transaction, accountOf(call).id, addressOf(call));
      return items.length === 0 ? undefined : { items };
    },
  };
}

export const getSuppression = defineOperation({
  id: 'getSuppression',
  summary: 'Read why an address is suppressed',
  answer: AddressView,
  handle: (call) => requireResource(call, suppressionChange(call)),
});

export const putSuppression = defineOperation({
  id: 'putSuppression',
  summary: 'Suppress an address',
  description: 'Reasons that it has already stay; one that is left out is `manual`.',
  body: Type.Object({ reason: Type.Optional(Reason) }, strict),
  answer: AddressView,
  conditional: true,
  handle: (call) =>
    saveResource(call, {
      ...suppressionChange(call),
      async write(transaction) {
        const { reason = 'manual' } = call.body;
        const entry = { address: addressOf(call), reason };
        await addSuppressions(transaction, accountOf(call).id, [entry]);
      },
    }),
});

export const deleteSuppression = defineOperation({
  id: 'deleteSuppression',
  summary: 'Let an address be written to again',
  query: Type.Object(
    { reason: Type.Optional(Reason) },
    { ...strict, description: 'Default: whatever the reason.' },
  ),
  conditional: true,
  handle: (call) =>
    removeResource(call, {
      ...suppressionChange(call),
      async write(transaction) {
        const { reason } = call.query;
        const { id } = accountOf(call);
        const removed = await removeSuppression(transaction, id, addressOf(call), reason);
        if (removed === 0) throw notFound('suppression');
      },
    }),
});

export const exportSuppressionList = defineOperation({
  id: 'exportSuppressions',
  summary: 'Read all suppressed addresses as CSV',
  produces: 'text/csv',
  async handle(call) {
    call.reply
      .header('content-disposition', 'attachment; filename="suppressions.csv"')
      .type('text/csv; charset=utf-8')
      .send(Readable.from(exportSuppressions(call.dependencies.database, accountOf(call).id)));
    return undefined;
  },
});
