import { randomBytes } from 'node:crypto';
import { type Static, Type } from 'typebox';
import { findPersonByEmail } from '../../account/person-store.ts';
import type { DatabaseTransaction } from '../../foundation/database/open-database.ts';
import { IntegrationSchema } from '../../manifest/manifest-schema.ts';
import { ClientSecretHasher } from '../../session/client-secret.ts';
import { changeIntegration, rotateClientSecret } from '../../session/integration-control-store.ts';
import {
  readIntegration,
  readIntegrations,
  removeIntegration,
  type StoredIntegration,
} from '../../session/integration-store.ts';
import { revokeClientTokens, revokePairTokens } from '../../session/revoke-tokens-store.ts';
import { Nullable, strict, Time } from '../answer/common-schemas.ts';
import { pageOf, pageQuery, pageSizeOf, readCursor, toPage } from '../answer/page.ts';
import { notFound } from '../answer/problem.ts';
import { applyManifestPart } from '../apply-manifest-part.ts';
import { inTransaction, recordAudit, removeResource, saveResource } from '../change-resource.ts';
import { accountOf, defineOperation, type OperationCall, type Wire } from '../operation.ts';
import { readConsents, removeConsent } from './consent-page-store.ts';

const IntegrationView = Type.Object(
  {
    clientId: Type.String(),
    name: Type.String(),
    redirectUri: Type.String(),
    grants: Type.Array(Type.String()),
    requirePkce: Type.Boolean({ description: 'Whether the code grant must use PKCE (RFC 7636).' }),
    disabled: Type.Boolean(),
    previousSecretUntil: Nullable(
      Time('When the secret from before the last rotation stops working.'),
    ),
    allowance: Type.Integer({
      description:
        'Max initial token requests per person in a sliding hour. Only operators can change it.',
    }),
  },
  { ...strict, title: 'Integration' },
);

const SecretView = Type.Object(
  { clientId: Type.String(), clientSecret: Type.String({ description: 'Shown only once.' }) },
  { ...strict, title: 'ClientSecret' },
);

function viewIntegration(integration: StoredIntegration): Wire<Static<typeof IntegrationView>> {
  const { clientId, name, redirectUri, requirePkce, disabled, allowance } = integration;
  return {
    clientId,
    name,
    redirectUri,
    grants: [...integration.grants].sort(),
    requirePkce,
    disabled,
    previousSecretUntil: integration.previousSecret?.until ?? null,
    allowance,
  };
}

/** Treats an integration of another account as missing. */
async function readOwn(transaction: DatabaseTransaction, call: OperationCall) {
  const integration = await readIntegration(transaction, call.params.clientId);
  return integration?.accountId === accountOf(call).id ? integration : undefined;
}

function integrationChange(call: OperationCall) {
  return {
    kind: 'integration',
    id: call.params.clientId,
    async read(transaction: DatabaseTransaction) {
      const integration = await readOwn(transaction, call);
      return integration && viewIntegration(integration);
    },
  };
}

function integrationKey(call: OperationCall) {
  return { accountId: accountOf(call).id, clientId: call.params.clientId };
}

/** 256 bits. */
function generateSecret(): string {
  return randomBytes(32).toString('base64url');
}

export const listIntegrations = defineOperation({
  id: 'listIntegrations',
  summary: 'List integrations',
  query: pageQuery({}),
  answer: pageOf(IntegrationView),
  async handle(call) {
    const [after = ''] = readCursor(call.query, 'text') ?? [];
    const all = await readIntegrations(call.dependencies.database.kysely, accountOf(call).id);
    const rows = all.filter(({ clientId }) => clientId > after);
    return toPage(rows, pageSizeOf(call.query), viewIntegration, ({ clientId }) => [clientId]);
  },
});

/** @throws Problem if the integration doesn't exist */
export async function requireIntegration(call: OperationCall): Promise<StoredIntegration> {
  const found = await readOwn(call.dependencies.database.kysely, call);
  if (found === undefined) throw notFound('integration');
  return found;
}

export const getIntegration = defineOperation({
  id: 'getIntegration',
  summary: 'Get an integration',
  answer: IntegrationView,
  handle: async (call) => viewIntegration(await requireIntegration(call)),
});

export const putIntegration = defineOperation({
  id: 'putIntegration',
  summary: 'Register or update an integration',
  description:
    'The secret of a new integration isn’t shown; get one with `POST …/secret`. Disabling an integration revokes its tokens on every node within a second. When updating, omitted members stay unchanged; defaults apply to new integrations only.',
  body: Type.Object(
    {
      name: IntegrationSchema.properties.name,
      redirectUri: IntegrationSchema.properties.redirectUri,
      grants: IntegrationSchema.properties.grants,
      requirePkce: Type.Optional(
        Type.Boolean({
          description: 'Whether the code grant must use PKCE. Default: false.',
        }),
      ),
      disabled: Type.Optional(Type.Boolean({ description: 'Default: false.' })),
    },
    strict,
  ),
  answer: IntegrationView,
  conditional: true,
  handle: (call) =>
    saveResource(call, {
      ...integrationChange(call),
      async write(transaction, before) {
        const { requirePkce, disabled, ...integration } = call.body;
        const { clientId } = call.params;
        const secret = before === undefined ? { clientSecret: generateSecret() } : {};
        await applyManifestPart(call, transaction, {
          integrations: [{ ...integration, ...secret, clientId }],
        });
        await changeIntegration(transaction, clientId, { requirePkce, disabled });
      },
    }),
});

export const deleteIntegration = defineOperation({
  id: 'deleteIntegration',
  summary: 'Delete an integration and its tokens',
  conditional: true,
  handle: (call) =>
    removeResource(call, {
      ...integrationChange(call),
      write: async (transaction) => {
        await revokeClientTokens(transaction, call.params.clientId);
        await removeIntegration(transaction, accountOf(call).id, call.params.clientId);
      },
    }),
});

export const rotateIntegrationSecret = defineOperation({
  id: 'rotateIntegrationSecret',
  summary: 'Rotate the client secret',
  description: 'The new secret is shown once.',
  body: Type.Object(
    {
      overlapHours: Type.Optional(
        Type.Number({
          description: 'Hours that the old secret keeps working. Default: 0.',
          minimum: 0,
          maximum: 720,
        }),
      ),
    },
    strict,
  ),
  answer: SecretView,
  handle: (call) =>
    inTransaction(call, async (transaction) => {
      if ((await readOwn(transaction, call)) === undefined) throw notFound('integration');
      const clientSecret = generateSecret();
      const overlap = Math.round((call.body.overlapHours ?? 0) * 3_600);
      const hash = new ClientSecretHasher(call.dependencies.key).hash(clientSecret);
      const { clientId } = call.params;
      await rotateClientSecret(transaction, clientId, hash, overlap);
      await recordAudit(call, transaction, 'integration_secret_rotated', clientId, { overlap });
      return { clientId, clientSecret };
    }),
});

export const listConsents = defineOperation({
  id: 'listConsents',
  summary: 'List consents to an integration',
  answer: pageOf(
    Type.Object(
      {
        email: Type.String(),
        accountId: Type.String(),
        grantedAt: Time('When consent was given.'),
      },
      { ...strict, title: 'Consent' },
    ),
  ),
  async handle(call) {
    const { accountId, clientId } = integrationKey(call);
    const items = await readConsents(call.dependencies.database.kysely, accountId, clientId);
    return { items, nextCursor: null };
  },
});

export const deleteConsent = defineOperation({
  id: 'deleteConsent',
  summary: 'Revoke a person’s consent and the tokens it granted',
  handle: (call) =>
    inTransaction(call, async (transaction) => {
      const { email, clientId } = call.params;
      const own = await readOwn(transaction, call);
      const person = own && (await findPersonByEmail(transaction, email));
      if (person === undefined) throw notFound('consent');
      if (!(await removeConsent(transaction, accountOf(call).id, clientId, person.id)))
        throw notFound('consent');
      await revokePairTokens(transaction, person.id, clientId);
      await recordAudit(call, transaction, 'consent_removed', clientId, { email });
      return undefined;
    }),
});
