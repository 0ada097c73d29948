import { Type } from 'typebox';
import { announceChange } from '../../../base/database/announce.ts';
import {
  NamedObject,
  Nullable,
  StrictObject,
  strict,
  Text,
  Time,
  Whole,
} from '../../../base/values/common-schemas.ts';
import {
  listSources,
  maxRetryIds,
  outboxSourceOf,
  outboxSourceTopic,
  removeSource,
  retryOf,
} from '../../../outbox/source/outbox-source-store.ts';
import { applyEntry } from '../../manifest/apply-manifest.ts';
import { AfterAccept, OutboxSourceSchema } from '../../manifest/manifest-schema.ts';
import { outboxSection } from '../../manifest/resource-sections.ts';
import { defineList } from '../answer/list-operations.ts';
import { defineOperation } from '../operation.ts';
import { resourceRoutes } from '../resource-routes.ts';
import { entryScope, saveResource } from '../save-resource.ts';

const members = {
  id: Type.String(),
  dialect: Type.Enum(['postgres', 'mysql'], {
    description: 'Of its database; `mysql` is also MariaDB’s.',
  }),
  table: Type.String(),
  answers: Nullable(Text('The table that gets the answers; null: the table itself.')),
  after: AfterAccept,
  server: Text('Hosts, ports and database. Nothing shows the URL, which has a password.'),
  rowsPerSecond: Whole('Max rows sent per second.'),
  createdAt: Time('When it was created.'),
};

const OutboxSourceView = NamedObject('OutboxSource', members);

const ListedOutboxSourceView = NamedObject('ListedOutboxSource', {
  ...members,
  readAt: Nullable(Time('When its table was last read.')),
  lagSeconds: Whole('Seconds since no row was left to send. A few are normal.'),
  failingSince: Nullable(Time('Since when the table can’t be read.')),
  failure: Nullable(Text('Why, such as `COLUMN_MISSING` or `LOGIN_FAILED`.')),
  failureDetail: Nullable(Type.String()),
  reading: Nullable(
    Type.Enum(['replication', 'polling'], {
      description: 'How its rows are found; null before its table is read.',
    }),
  ),
  slotBytes: Nullable(
    Whole('Bytes of write-ahead log that its replication slot holds back; null without one.'),
  ),
  rowsLastMinute: Whole('Rows that were answered in about the last minute.'),
  failedRows: Type.Array(
    NamedObject('OutboxFailedRow', {
      id: Type.String(),
      errorName: Text('The error that the send operation would give.'),
      detail: Text('Its first detail. The row has all of them.'),
      at: Time('When it failed.'),
    }),
    { description: 'The latest rows that failed and weren’t accepted since, at most 20.' },
  ),
});

export const listOutboxSources = defineList({
  id: 'listOutboxSources',
  summary: 'List outbox sources',
  item: ListedOutboxSourceView,
  read: ({ kysely, params }) => listSources(kysely, params.accountId),
});

export const outboxSourceRoutes = resourceRoutes({
  path: '/accounts/:accountId/outbox-sources/:sourceId',
  access: { read: 'outbox:read', write: 'outbox:write' },
  view: OutboxSourceView,
  resource: ({ params }) => outboxSourceOf(params.accountId, params.sourceId),
  get: { id: 'getOutboxSource', summary: 'Get an outbox source' },
  put: {
    id: 'putOutboxSource',
    confirmed: true,
    summary: 'Create or update an outbox source',
    description:
      'Sends the rows of a table of your own PostgreSQL, MySQL or MariaDB, which your application inserts in its own transactions. Omitted members stay as they are; a new source has the defaults. Saving it, changed or not, retries a source that fails.',
    body: Type.Omit(OutboxSourceSchema, ['id'], strict),
    write: (call) => async (transaction) => {
      const { accountId, sourceId: id } = call.params;
      await applyEntry(outboxSection, { ...call.body, id }, entryScope(call, transaction));
      await announceChange(transaction, outboxSourceTopic, `${accountId}/${id}`);
    },
  },
  remove: {
    id: 'deleteOutboxSource',
    confirmed: true,
    summary: 'Remove an outbox source',
    description: 'Its table stays, and so do the messages of its rows.',
    write: (call) => (transaction) =>
      removeSource(transaction, call.params.accountId, call.params.sourceId),
  },
});

export const retryOutboxRows = defineOperation({
  id: 'retryOutboxRows',
  summary: 'Retry failed rows of an outbox source',
  description: 'The reader of the source does it within seconds.',
  body: StrictObject({
    ids: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 1_000 }), {
        description: 'Default: all rows that failed.',
        minItems: 1,
        maxItems: maxRetryIds,
      }),
    ),
  }),
  async handle(call) {
    const { accountId, sourceId } = call.params;
    await saveResource(call, retryOf(accountId, sourceId, call.body.ids ?? []));
    return undefined;
  },
});
