import { type Static, Type } from 'typebox';
import {
  type ApiKey,
  type ApiKeyLimits,
  readApiKeys,
  removeApiKey,
} from '../../../accounts/access/api-key-store.ts';
import {
  type CreatedApiKey,
  issueApiKey,
  maxKeyDays,
  maxKeyLimits,
  maxOverlapHours,
  readLiveApiKey,
  replaceApiKey,
} from '../../../accounts/access/issue-api-key.ts';
import { keyScopes, permissions } from '../../../accounts/access/permission.ts';
import { keyModes, personOf } from '../../../accounts/access/principal.ts';
import { SigningSecrets } from '../../../accounts/access/signing-secrets.ts';
import type { DatabaseTransaction } from '../../../base/database/open-database.ts';
import {
  Flag,
  NamedObject,
  Nullable,
  optional,
  PartialObject,
  StrictObject,
  Text,
  Time,
  Uuid,
  Whole,
} from '../../../base/values/common-schemas.ts';
import { Name } from '../../manifest/manifest-schema.ts';
import { actorPermissions } from '../access/admit-actor.ts';
import { defineList } from '../answer/list-operations.ts';
import { invalidField, notFound } from '../answer/problem.ts';
import { actorOf, defineOperation, type OperationCall } from '../operation.ts';
import { inTransaction, recordAudit } from '../save-resource.ts';

const dayMs = 86_400_000;

const ApiKeyView = NamedObject('ApiKey', {
  id: Uuid,
  name: Type.String(),
  mode: Type.Enum([...keyModes], {
    description:
      'What it sends: live messages, or test messages, which go to the account’s inbox only.',
  }),
  hint: Nullable(Text('The last characters before the checksum.')),
  scopes: Type.Array(Type.Enum([...permissions])),
  networks: Nullable(Type.Array(Type.String(), { description: 'Null: any network.' })),
  templates: Nullable(Type.Array(Type.String(), { description: 'Null: all templates.' })),
  createdBy: Nullable(Text('Null for keys created on the command line.')),
  createdAt: Time('When it was created.'),
  expiresAt: Nullable(Time('When it expires.')),
  lastUsedAt: Nullable(Time('When it was last used, to the minute.')),
  canSign: Flag('It has a secret access key, with which Amazon’s SDKs sign requests.'),
  replacedBy: Nullable({ ...Uuid, description: 'The key that replaced it.' }),
});

const NewApiKeyView = NamedObject('NewApiKey', {
  id: Uuid,
  key: Text('Shown only once.'),
  accessKeyId: Nullable(Text('Null for keys that can’t sign.')),
  secretAccessKey: Nullable(Text('Shown only once. Null for keys that can’t sign.')),
});

export const listApiKeys = defineList({
  id: 'listApiKeys',
  summary: 'List the API keys of an account',
  item: ApiKeyView,
  read: ({ kysely, params }) => readApiKeys(kysely, params.accountId),
});

export const createApiKey = defineOperation({
  id: 'createApiKey',
  confirmed: true,
  summary: 'Create an API key',
  description:
    'The key is shown once. Its scopes can’t go beyond your own permissions, and it’s revoked when you leave the account or lose your role, unless another owner takes it over. With `messages:send` it works on the send operation in place of an access token.',
  body: StrictObject({
    name: Name('What the key is for.'),
    scopes: Type.Array(Type.Enum([...keyScopes]), {
      minItems: 1,
      maxItems: keyScopes.length,
      uniqueItems: true,
    }),
    ...optional({
      mode: Type.Enum([...keyModes], {
        description:
          'What it sends: live messages, or test messages, which go to the account’s inbox only. Its other scopes are those of a live key. Default: live.',
      }),
      expiresInDays: Whole('Default: it doesn’t expire.', { minimum: 1, maximum: maxKeyDays }),
      networks: Type.Array(Type.String({ maxLength: 50 }), {
        minItems: 1,
        maxItems: maxKeyLimits,
        description:
          'Networks that requests may come from, such as 192.0.2.0/24. Default: any network.',
      }),
      templates: Type.Array(Type.String({ maxLength: 64 }), {
        minItems: 1,
        maxItems: maxKeyLimits,
        description:
          'Templates that the key may send with. Default: all. A key limited to templates can only have the scopes of the send, status and list operations.',
      }),
      signing: Flag(
        'Also create a secret access key, with which Amazon’s SDKs sign requests to `/ses`. Default: false.',
      ),
    }),
  }),
  answer: NewApiKeyView,
  status: 201,
  async handle(call) {
    const {
      name,
      mode = 'live',
      scopes,
      expiresInDays,
      networks = null,
      templates = null,
      signing,
    } = call.body;
    await requireOwnScopes(call, scopes);
    return inTransaction(call, async (transaction) => {
      const { clock } = call.dependencies;
      const created = await issueApiKey(transaction, {
        name,
        mode,
        scopes,
        networks,
        templates,
        accountId: call.params.accountId,
        createdBy: personOf(actorOf(call)),
        signing: signing === true ? new SigningSecrets(call.dependencies.key) : undefined,
        expiresAt:
          expiresInDays === undefined ? undefined : new Date(clock.now() + expiresInDays * dayMs),
      });
      return recordCreation(call, transaction, { name, mode, scopes }, created);
    });
  },
});

export const rotateApiKey = defineOperation({
  id: 'rotateApiKey',
  confirmed: true,
  summary: 'Replace an API key',
  description:
    'Creates a key with the same name, scopes and limits, which can sign if the old one can. The new key is shown once, and the old one expires after the overlap.',
  body: PartialObject({
    overlapHours: Whole('Hours during which both keys work. Default: 24.', {
      minimum: 0,
      maximum: maxOverlapHours,
    }),
  }),
  answer: NewApiKeyView,
  status: 201,
  handle: (call) =>
    inTransaction(call, async (transaction) => {
      const { keyId, accountId } = call.params;
      const { clock, key } = call.dependencies;
      const now = clock.now();
      const old = await readLiveApiKey(transaction, accountId, keyId, now);
      if (old === undefined) throw notFound('API key');
      await requireOwnScopes(call, old.scopes);
      const created = await replaceApiKey(transaction, {
        accountId,
        old,
        overlapHours: call.body.overlapHours ?? 24,
        secrets: new SigningSecrets(key),
        createdBy: personOf(actorOf(call)),
        now,
      });
      const response = await recordCreation(call, transaction, old, created);
      await recordAudit(call, transaction, 'api_key_rotated', keyId, {
        name: old.name,
        replacedBy: response.id,
      });
      return response;
    }),
});

export const deleteApiKey = defineOperation({
  id: 'deleteApiKey',
  confirmed: true,
  summary: 'Revoke an API key',
  description: 'It stops working on every node within a second.',
  handle: (call) =>
    inTransaction(call, async (transaction) => {
      const { keyId, accountId } = call.params;
      const now = call.dependencies.clock.now();
      const live = await readLiveApiKey(transaction, accountId, keyId, now);
      if (!(await removeApiKey(transaction, accountId, keyId))) throw notFound('API key');
      const named = live && { name: live.name };
      await recordAudit(call, transaction, 'api_key_removed', keyId, named);
    }),
});

/** A key can't have more permissions than its creator. */
async function requireOwnScopes(
  call: OperationCall,
  scopes: ApiKeyLimits['scopes'],
): Promise<void> {
  const own = await actorPermissions(call.dependencies, actorOf(call), call.params.accountId);
  const excess = scopes.filter((scope) => own?.has(scope) !== true);
  if (excess.length > 0)
    throw invalidField('scopes', `exceeds your own permissions: ${excess.join(', ')}`);
}

/** Records the creation of a key. @throws Problem if it failed */
async function recordCreation(
  call: OperationCall,
  transaction: DatabaseTransaction,
  { name, mode, scopes }: Pick<ApiKey, 'mode' | 'name' | 'scopes'>,
  created: CreatedApiKey,
): Promise<Static<typeof NewApiKeyView>> {
  if (created.problem !== undefined)
    throw invalidField(created.problem.field, created.problem.reason);
  const detail = { name, mode, scopes: scopes.join(' ') };
  await recordAudit(call, transaction, 'api_key_created', created.id, detail);
  const { id, text, signing } = created;
  const { accessKeyId, secretAccessKey } = signing ?? {};
  return {
    id,
    key: text,
    accessKeyId: accessKeyId ?? null,
    secretAccessKey: secretAccessKey ?? null,
  };
}
