import { accountLimits } from '../account/account-limits.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { FaultDetail } from '../foundation/errors.ts';
import type { AccountId, PersonId } from '../foundation/ids.ts';
import { isNetwork } from '../foundation/network/block-list.ts';
import { notifyOfApiKey } from '../outbox/security-notice-store.ts';
import { generateApiKey } from './api-key.ts';
import {
  type ApiKeyLimits,
  addApiKey,
  countApiKeys,
  findMissingTemplates,
  lockRole,
} from './api-key-store.ts';
import { keyScopes, permissionsOf } from './permission.ts';
import { tokenPermissions } from './token-operations.ts';

/** Maximum number of networks, and of templates, that a key can be limited to. */
export const maxKeyLimits = 100;
/** Maximum lifetime of a key that expires. */
export const maxKeyDays = 3_650;

/** The settings of a key to create. */
export interface ApiKeyRequest extends ApiKeyLimits {
  readonly accountId: AccountId;
  readonly name: string;
  /** Undefined: the command line. */
  readonly createdBy: PersonId | undefined;
  readonly expiresAt: Date | undefined;
  /** The event that the owners are notified of. */
  readonly event?: 'api-key-created' | 'api-key-rotated';
}

export type CreatedApiKey =
  | { readonly id: string; readonly text: string; readonly problem?: never }
  | { readonly problem: FaultDetail };

/**
 * Creates an API key within the transaction.
 * @returns the key's text, available only now, or what is wrong with the request
 */
export async function issueApiKey(
  transaction: Database['kysely'],
  request: ApiKeyRequest,
): Promise<CreatedApiKey> {
  const problem =
    findScopeProblem(request) ??
    findNetworkProblem(request.networks ?? []) ??
    (await findCreatorProblem(transaction, request)) ??
    (await findTemplateProblem(transaction, request)) ??
    (await findCountProblem(transaction, request.accountId));
  if (problem !== undefined) return { problem };
  const { accountId, name, createdBy, event = 'api-key-created' } = request;
  const { text, hash, hint } = generateApiKey(accountId);
  await notifyOfApiKey(transaction, event, { accountId, keyName: name, madeBy: createdBy });
  return { id: await addApiKey(transaction, { ...request, hash, hint }), text };
}

function findScopeProblem({ scopes, templates }: ApiKeyLimits): FaultDetail | undefined {
  const refused = scopes.filter((scope) => !keyScopes.includes(scope));
  if (refused.length > 0)
    return {
      field: 'scopes',
      reason: `can’t include ${refused.join(', ')}: only people in a browser have these permissions`,
    };
  if (templates !== null && scopes.includes('messages:send-content'))
    return {
      field: 'scopes',
      reason:
        'can’t include messages:send-content for a key limited to templates: it would send any content; leave out the scope or the templates',
    };
  const otherScopes = scopes.filter((scope) => !tokenPermissions.has(scope));
  if (templates !== null && otherScopes.length > 0)
    return {
      field: 'scopes',
      reason: `can’t include ${otherScopes.join(', ')} for a key limited to templates`,
    };
  return undefined;
}

function findNetworkProblem(networks: readonly string[]): FaultDetail | undefined {
  const invalid = networks.find((network) => !isNetwork(network));
  return invalid === undefined
    ? undefined
    : {
        field: 'networks',
        reason: `“${invalid}” is not a network such as 192.0.2.0/24 or 2001:db8::/48`,
      };
}

/** A person whose role ends while they create a key would leave it behind (ASVS 4.0.3 section 11.1.6). */
async function findCreatorProblem(
  transaction: Database['kysely'],
  { accountId, createdBy }: ApiKeyRequest,
): Promise<FaultDetail | undefined> {
  if (createdBy === undefined) return undefined;
  const role = await lockRole(transaction, accountId, createdBy);
  return role !== undefined && permissionsOf[role].has('keys:write')
    ? undefined
    : { field: 'scopes', reason: 'exceed your own permissions' };
}

async function findTemplateProblem(
  transaction: Database['kysely'],
  { accountId, templates }: ApiKeyRequest,
): Promise<FaultDetail | undefined> {
  if (templates === null) return undefined;
  const missing = await findMissingTemplates(transaction, accountId, templates);
  return missing.length === 0
    ? undefined
    : { field: 'templates', reason: `not found in the account: ${missing.join(', ')}` };
}

async function findCountProblem(
  transaction: Database['kysely'],
  accountId: AccountId,
): Promise<FaultDetail | undefined> {
  if ((await countApiKeys(transaction, accountId)) < accountLimits.apiKeys.max) return undefined;
  return {
    field: 'name',
    reason: `the account already has ${accountLimits.apiKeys.max} keys; revoke one first`,
  };
}
