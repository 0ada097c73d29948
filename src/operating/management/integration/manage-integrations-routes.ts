import { randomBytes } from 'node:crypto';
import { type Static, Type } from 'typebox';
import { findPersonByEmail } from '../../../accounts/account/person-store.ts';
import { ClientSecretHasher } from '../../../accounts/oauth/authenticate-client.ts';
import { readConsents, removeConsent } from '../../../accounts/oauth/consent-store.ts';
import {
  changeIntegration,
  maxAllowance,
  readAllowanceUsage,
  readIntegrationOverviews,
  rotateClientSecret,
} from '../../../accounts/oauth/integration-control-store.ts';
import {
  readIntegration,
  readIntegrations,
  removeIntegration,
  type StoredIntegration,
} from '../../../accounts/oauth/integration-store.ts';
import {
  revokeClientTokens,
  revokeReachedTokens,
} from '../../../accounts/oauth/revoke-tokens-store.ts';
import type { DatabaseTransaction } from '../../../base/database/open-database.ts';
import {
  Flag,
  NamedObject,
  Nullable,
  PartialObject,
  StrictObject,
  Text,
  Time,
  Whole,
} from '../../../base/values/common-schemas.ts';
import type { Wire } from '../../../base/values/wire.ts';
import { applyEntry } from '../../manifest/apply-manifest.ts';
import { IntegrationSchema } from '../../manifest/manifest-schema.ts';
import { integrationSection } from '../../manifest/resource-sections.ts';
import { defineList } from '../answer/list-operations.ts';
import { notFound } from '../answer/problem.ts';
import { viewOf } from '../answer/view-of.ts';
import { defineOperation, type OperationCall } from '../operation.ts';
import { resourceOf, resourceRoutes } from '../resource-routes.ts';
import {
  callerOf,
  entryScope,
  inTransaction,
  recordAudit,
  requireResource,
  saveResource,
} from '../save-resource.ts';

const IntegrationView = NamedObject('Integration', {
  clientId: Type.String(),
  name: Type.String(),
  redirectUri: Type.String(),
  grants: Type.Array(Type.String()),
  requirePkce: Flag('Whether the code grant must use PKCE (RFC 7636).'),
  disabled: Type.Boolean(),
  previousSecretUntil: Nullable(Time('When the previous secret stops working.')),
  allowance: Whole(
    'Max initial token requests per user in a sliding hour. Only operators can change it.',
  ),
});

const SecretView = NamedObject('ClientSecret', {
  clientId: Type.String(),
  clientSecret: Text('Shown only once.'),
});

function viewIntegration(integration: StoredIntegration): Wire<Static<typeof IntegrationView>> {
  return viewOf(IntegrationView)({
    ...integration,
    grants: [...integration.grants].sort(),
    previousSecretUntil: integration.previousSecret?.until,
  });
}

/** Treats an integration of another account as missing. */
async function readOwn(transaction: DatabaseTransaction, call: OperationCall) {
  const integration = await readIntegration(transaction, call.params.clientId);
  return integration?.accountId === call.params.accountId ? integration : undefined;
}

const integrationOf = resourceOf({
  kind: 'integration',
  id: 'clientId',
  async read(transaction, call) {
    const integration = await readOwn(transaction, call);
    return integration && viewIntegration(integration);
  },
});

/** 256 bits. */
function generateSecret(): string {
  return randomBytes(32).toString('base64url');
}

export const integrationRoutes = resourceRoutes({
  path: '/accounts/:accountId/integrations/:clientId',
  access: { read: 'integrations:read', write: 'integrations:write' },
  view: IntegrationView,
  resource: integrationOf,
  list: {
    id: 'listIntegrations',
    summary: 'List OAuth apps',
    key: 'clientId',
    async read(call, { after }) {
      const all = await readIntegrations(call.kysely, call.params.accountId);
      return all.filter(({ clientId }) => clientId > after).map(viewIntegration);
    },
  },
  get: { id: 'getIntegration', summary: 'Get an OAuth app' },
  put: {
    id: 'putIntegration',
    confirmed: true,
    summary: 'Register or update an OAuth app',
    description:
      'The secret of a new app isn’t shown; get one with `POST …/secret`. Disabling an app revokes its tokens on every node within a second. When updating, omitted members stay unchanged; defaults apply to new apps only.',
    body: StrictObject({
      name: IntegrationSchema.properties.name,
      redirectUri: IntegrationSchema.properties.redirectUri,
      grants: IntegrationSchema.properties.grants,
      requirePkce: Type.Optional(Flag('Whether the code grant must use PKCE. Default: false.')),
      disabled: Type.Optional(Flag('Default: false.')),
    }),
    write: (call) => async (transaction, before) => {
      const { requirePkce, disabled, ...integration } = call.body;
      const { clientId } = call.params;
      const secret = before === undefined ? { clientSecret: generateSecret() } : {};
      const entry = { ...integration, ...secret, clientId };
      await applyEntry(integrationSection, entry, entryScope(call, transaction));
      await changeIntegration(transaction, clientId, { requirePkce, disabled });
    },
  },
  remove: {
    id: 'deleteIntegration',
    confirmed: true,
    summary: 'Delete an OAuth app and its tokens',
    write: (call) => async (transaction) => {
      await revokeClientTokens(transaction, call.params.clientId);
      await removeIntegration(transaction, call.params.accountId, call.params.clientId);
    },
  },
});

export const rotateIntegrationSecret = defineOperation({
  id: 'rotateIntegrationSecret',
  confirmed: true,
  summary: 'Rotate the client secret',
  body: PartialObject({
    overlapHours: Type.Number({
      description: 'Hours during which the previous secret keeps working. Default: 0.',
      minimum: 0,
      maximum: 720,
    }),
  }),
  answer: SecretView,
  handle: (call) =>
    inTransaction(call, async (transaction) => {
      const app = await readOwn(transaction, call);
      if (app === undefined) throw notFound('OAuth app');
      const clientSecret = generateSecret();
      const overlap = Math.round((call.body.overlapHours ?? 0) * 3_600);
      const hash = new ClientSecretHasher(call.dependencies.key).hash(clientSecret);
      const { clientId } = call.params;
      await rotateClientSecret(transaction, clientId, hash, overlap);
      await recordAudit(call, transaction, 'integration_secret_rotated', clientId, {
        name: app.name,
        overlap,
      });
      return { clientId, clientSecret };
    }),
});

export const listConsents = defineList({
  id: 'listConsents',
  summary: 'List consents to an OAuth app',
  item: NamedObject('Consent', {
    email: Type.String(),
    accountId: Type.String(),
    grantedAt: Time('When the user consented.'),
  }),
  read: ({ kysely, params: { accountId, clientId } }) => readConsents(kysely, accountId, clientId),
});

export const deleteConsent = defineOperation({
  id: 'deleteConsent',
  summary: 'Revoke a user’s consent and the tokens it granted',
  handle: (call) =>
    inTransaction(call, async (transaction) => {
      const { email, clientId } = call.params;
      const own = await readOwn(transaction, call);
      const person = own && (await findPersonByEmail(transaction, email));
      if (person === undefined) throw notFound('consent');
      if (!(await removeConsent(transaction, call.params.accountId, clientId, person.id)))
        throw notFound('consent');
      await revokeReachedTokens(transaction, { personId: person.id, reach: 'all' }, clientId);
      await recordAudit(call, transaction, 'consent_removed', clientId, { email });
    }),
});

export const listAllowanceUses = defineList({
  id: 'listAllowanceUses',
  summary: 'List token request usage of an OAuth app',
  description:
    'Initial token requests per user in the last hour. Users without requests aren’t listed. Refresh requests don’t count.',
  item: NamedObject('AllowanceUse', {
    email: Type.String(),
    used: Type.Integer(),
    left: Type.Integer(),
    freeAt: Nullable(Time('When the next request is allowed; null if some are left.')),
  }),
  async read(call) {
    const app = await readOwn(call.kysely, call);
    if (app === undefined) throw notFound('OAuth app');
    return readAllowanceUsage(call.kysely, app.clientId);
  },
});

const AllowanceView = NamedObject('Allowance', {
  clientId: Type.String(),
  accountId: Type.String(),
  perHour: Whole('Max initial token requests per user in a sliding hour.'),
});

const allowanceChange = resourceOf({
  kind: 'allowance',
  id: 'clientId',
  async read(transaction, { params: { clientId } }) {
    const [found] = await readIntegrationOverviews(transaction, clientId);
    return found && { clientId, accountId: found.accountId, perHour: found.allowance };
  },
});

export const getAllowance = defineOperation({
  id: 'getAllowance',
  summary: 'Get the token request limit of an OAuth app',
  answer: AllowanceView,
  handle: (call) => requireResource(call, allowanceChange(call)),
});

export const putAllowance = defineOperation({
  id: 'putAllowance',
  summary: 'Set the token request limit of an OAuth app',
  description:
    'Takes effect immediately on every node, including for users who have reached the limit.',
  body: StrictObject({ perHour: Type.Integer({ minimum: 1, maximum: maxAllowance }) }),
  answer: AllowanceView,
  conditional: true,
  async handle(call) {
    const { accountId } = await requireResource(call, allowanceChange(call));
    // Recorded in the audit log of the integration's account.
    const actor = { ...callerOf(call), accountId };
    const { perHour: allowance } = call.body;
    const write = (transaction: DatabaseTransaction) =>
      changeIntegration(transaction, call.params.clientId, { allowance });
    return saveResource(call, { ...allowanceChange(call), write }, actor);
  },
});
