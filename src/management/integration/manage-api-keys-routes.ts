import { Type } from 'typebox';
import { Name } from '../../manifest/manifest-schema.ts';
import { notifyOfApiKey } from '../../outbox/security-notice-store.ts';
import { personOf } from '../access/actor.ts';
import { permissionsIn } from '../access/admit-actor.ts';
import { addApiKey, readApiKeys, removeApiKey } from '../access/api-key-store.ts';
import { permissions } from '../access/permission.ts';
import { pageOf } from '../answer/page.ts';
import { invalid, notFound } from '../answer/problem.ts';
import { Nullable, strict, Time, Uuid } from '../answer/schema-parts.ts';
import { inTransaction, record } from '../change-resource.ts';
import { accountOf, actorOf, endpoint } from '../endpoint.ts';

const ApiKeyView = Type.Object(
  {
    id: Uuid,
    name: Type.String(),
    scopes: Type.Array(Type.Enum([...permissions])),
    createdBy: Nullable(Type.String()),
    createdAt: Time('When it was made.'),
    expiresAt: Nullable(Time('When it ends by itself.')),
    lastUsedAt: Nullable(Time('When it was used last, to the minute.')),
  },
  { ...strict, title: 'ApiKey' },
);

export const listApiKeys = endpoint({
  id: 'listApiKeys',
  summary: 'List the API keys of an account',
  answer: pageOf(ApiKeyView),
  async handle(call) {
    const items = await readApiKeys(call.parts.database.kysely, accountOf(call).id);
    return { items, nextCursor: null };
  },
});

export const createApiKey = endpoint({
  id: 'createApiKey',
  summary: 'Make an API key, which is shown once',
  description: 'Its scopes can be no more than what the caller may do.',
  body: Type.Object(
    {
      name: Name('What the key is for.'),
      scopes: Type.Array(Type.Enum([...permissions]), { minItems: 1, uniqueItems: true }),
      expiresInDays: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 3_650, description: 'Default: it does not end.' }),
      ),
    },
    strict,
  ),
  answer: Type.Object(
    { id: Uuid, key: Type.String({ description: 'Shown this once.' }) },
    { ...strict, title: 'NewApiKey' },
  ),
  status: 201,
  async handle(call) {
    const { name, scopes, expiresInDays } = call.body;
    const { id: accountId } = accountOf(call);
    const actor = actorOf(call);
    const own = await permissionsIn(call.parts, actor, accountId);
    const beyond = scopes.filter((scope) => own?.has(scope) !== true);
    if (beyond.length > 0) throw invalid('scopes', `goes beyond your own: ${beyond.join(', ')}`);
    const { text, hash } = call.parts.apiKeys.make(accountId);
    return inTransaction(call, async (transaction) => {
      const id = await addApiKey(transaction, {
        accountId,
        hash,
        name,
        scopes,
        createdBy: personOf(actor),
        expiresAt:
          expiresInDays === undefined
            ? undefined
            : new Date(call.parts.clock.now() + expiresInDays * 86_400_000),
      });
      await record(call, transaction, 'api_key_created', id, { scopes: scopes.join(' ') });
      const madeBy = personOf(actor);
      await notifyOfApiKey(transaction, 'api-key-created', { accountId, keyName: name, madeBy });
      return { id, key: text };
    });
  },
});

export const deleteApiKey = endpoint({
  id: 'deleteApiKey',
  summary: 'End an API key, at once and on every node',
  handle: (call) =>
    inTransaction(call, async (transaction) => {
      const { keyId } = call.params;
      if (!(await removeApiKey(transaction, accountOf(call).id, keyId))) throw notFound('API key');
      await record(call, transaction, 'api_key_removed', keyId);
      return undefined;
    }),
});
