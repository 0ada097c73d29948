import { Type } from 'typebox';
import { PartialObject, strict } from '../../../base/values/common-schemas.ts';
import { listSources, maxRetryIds, sourceOf } from '../../../outbox/source/outbox-source-store.ts';
import { ListedOutboxSourceView, OutboxSourceView } from '../../../outbox/source/source-schemas.ts';
import { applyEntry } from '../../manifest/apply-manifest.ts';
import { OutboxSourceSchema } from '../../manifest/manifest-schema.ts';
import { outboxSection } from '../../manifest/resource-sections.ts';
import { defineList } from '../answer/list-operations.ts';
import { defineOperation } from '../operation.ts';
import { resourceRoutes } from '../resource-routes.ts';
import { entryScope, saveResource } from '../save-resource.ts';

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
  resource: ({ params }) => sourceOf(params.accountId, params.sourceId).resource,
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
      await sourceOf(accountId, id).announce(transaction);
    },
  },
  remove: {
    id: 'deleteOutboxSource',
    confirmed: true,
    summary: 'Remove an outbox source',
    description: 'Its table stays, and so do the messages of its rows.',
    write: ({ params }) => sourceOf(params.accountId, params.sourceId).remove,
  },
});

export const retryOutboxRows = defineOperation({
  id: 'retryOutboxRows',
  summary: 'Retry failed rows of an outbox source',
  description: 'The reader of the source does it within seconds.',
  body: PartialObject({
    ids: Type.Array(Type.String({ minLength: 1, maxLength: 1_000 }), {
      description: 'Default: all rows that failed.',
      minItems: 1,
      maxItems: maxRetryIds,
    }),
  }),
  async handle(call) {
    const { accountId, sourceId } = call.params;
    await saveResource(call, sourceOf(accountId, sourceId).retry(call.body.ids ?? []));
    return undefined;
  },
});
