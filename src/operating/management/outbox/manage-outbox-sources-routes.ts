import { Type } from 'typebox';
import {
  NamedObject,
  Nullable,
  OptionalText,
  StrictObject,
  Text,
  Time,
  Whole,
} from '../../../base/values/common-schemas.ts';
import {
  listSources,
  outboxSourceOf,
  removeSource,
  saveSource,
} from '../../../outbox/source/outbox-source-store.ts';
import {
  defaultRowsPerSecond,
  maxRowsPerSecond,
  maxSourceUrlLength,
  parseSourceUrl,
  tableNamePattern,
} from '../../../outbox/source/source-url.ts';
import { defineList } from '../answer/list-operations.ts';
import { invalidField } from '../answer/problem.ts';
import { resourceRoutes } from '../resource-routes.ts';

const members = {
  id: Type.String(),
  table: Type.String(),
  server: Text('Host, port and database. Nothing shows the URL, which has a password.'),
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
});

const OutboxSourceBody = StrictObject({
  table: OptionalText({
    description:
      'The table, such as `email_outbox` or `shop.email_outbox`. Required for a new source; it can’t be changed.',
    examples: ['email_outbox'],
    maxLength: 127,
    pattern: tableNamePattern,
  }),
  url: OptionalText({
    description:
      'Where its database is: `postgres://user:password@host:5432/database`. The server needs TLS with a certificate for the host. Required for a new source; default: the stored URL.',
    examples: ['postgres://signalpost:password@db.shop.example/shop'],
    minLength: 1,
    maxLength: maxSourceUrlLength,
  }),
  rowsPerSecond: Type.Optional(
    Whole(`Max rows sent per second. Default: ${defaultRowsPerSecond}.`, {
      minimum: 1,
      maximum: maxRowsPerSecond,
    }),
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
      'Sends the rows of a table of your own PostgreSQL, which your application inserts in its own transactions. An omitted URL stays; an omitted rate becomes the default.',
    body: OutboxSourceBody,
    write(call) {
      const { table, url, rowsPerSecond = defaultRowsPerSecond } = call.body;
      const { accountId, sourceId } = call.params;
      const { key, outbox } = call.dependencies;
      const parsed = url === undefined ? undefined : parseSourceUrl(url, outbox.networks);
      if (parsed !== undefined && 'reason' in parsed) throw invalidField('url', parsed.reason);
      const settings = { table, rowsPerSecond, database: parsed };
      return async (transaction) => {
        const refusal = await saveSource(transaction, key, accountId, sourceId, settings);
        if (refusal !== undefined) throw invalidField(refusal.field, refusal.reason);
      };
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
