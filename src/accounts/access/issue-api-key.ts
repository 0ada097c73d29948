import type { Kysely } from '../../base/database/open-database.ts';
import { isNetwork } from '../../base/network/ip-address.ts';
import type { FaultDetail } from '../../base/values/errors.ts';
import type { AccountId, PersonId } from '../../base/values/ids.ts';
import { accountLimits } from '../account/account-limits.ts';
import { findPersonByEmail } from '../account/person-store.ts';
import { notifyOfApiKey } from '../notices/security-notice-store.ts';
import { generateApiKey, generateSigningSecret } from './api-key.ts';
import {
  type ApiKey,
  type ApiKeyLimits,
  addApiKey,
  canHaveTestKeys,
  countApiKeys,
  countApiKeysCreatedBy,
  expireApiKey,
  findMissingTemplates,
  findTransferAccounts,
  lockRole,
  readApiKey,
  transferApiKeys,
} from './api-key-store.ts';
import { keyScopes, permissionsOf } from './permission.ts';
import type { KeyMode } from './principal.ts';
import { accessKeyIdOf, type SigningKeyName, type SigningSecrets } from './signing-secrets.ts';
import { tokenPermissions } from './token-operations.ts';

/** Maximum number of networks, and of templates, that a key can be limited to. */
export const maxKeyLimits = 100;
/** Maximum lifetime of a key that expires. */
export const maxKeyDays = 3_650;

/** The settings of a key to create. */
interface ApiKeyRequest extends ApiKeyLimits {
  readonly accountId: AccountId;
  readonly name: string;
  /** Default: live. */
  readonly mode?: KeyMode | undefined;
  /** Undefined: the command line. */
  readonly createdBy: PersonId | undefined;
  readonly expiresAt: Date | undefined;
  /** Set: it also gets a secret to sign requests with. */
  readonly signing?: SigningSecrets | undefined;
  /** The event that the owners are notified of. */
  readonly event?: 'api-key-created' | 'api-key-rotated';
}

/** What a program signs requests with, as the SDKs of Amazon name it. */
export interface SigningCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export type CreatedApiKey =
  | {
      readonly id: string;
      readonly text: string;
      readonly signing: SigningCredentials | undefined;
      readonly problem?: never;
    }
  | { readonly problem: FaultDetail };

/**
 * Creates an API key within the transaction.
 * @returns the key's text and secret, available only now, or what is wrong with the request
 */
export async function issueApiKey(
  transaction: Kysely,
  request: ApiKeyRequest,
): Promise<CreatedApiKey> {
  const problem =
    findScopeProblem(request) ??
    findNetworkProblem(request.networks ?? []) ??
    (await findCreatorProblem(transaction, request)) ??
    (await findTemplateProblem(transaction, request)) ??
    (await findModeProblem(transaction, request)) ??
    (await findCountProblem(transaction, request.accountId));
  if (problem !== undefined) return { problem };
  const { accountId, name, mode, createdBy, signing, event = 'api-key-created' } = request;
  const { text, hash, hint } = generateApiKey(accountId, mode);
  await notifyOfApiKey(transaction, event, { accountId, keyName: name, madeBy: createdBy });
  const secretAccessKey = generateSigningSecret();
  const sealSecret = signing && ((key: SigningKeyName) => signing.seal(key, secretAccessKey));
  const id = await addApiKey(transaction, { ...request, hash, hint, sealSecret });
  const accessKeyId = accessKeyIdOf({ accountId, id });
  return { id, text, signing: signing && { accessKeyId, secretAccessKey } };
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
  transaction: Kysely,
  { accountId, createdBy }: ApiKeyRequest,
): Promise<FaultDetail | undefined> {
  if (createdBy === undefined) return undefined;
  const role = await lockRole(transaction, accountId, createdBy);
  return role !== undefined && permissionsOf[role].has('keys:write')
    ? undefined
    : { field: 'scopes', reason: 'exceed your own permissions' };
}

async function findTemplateProblem(
  transaction: Kysely,
  { accountId, templates }: ApiKeyRequest,
): Promise<FaultDetail | undefined> {
  if (templates === null) return undefined;
  const missing = await findMissingTemplates(transaction, accountId, templates);
  return missing.length === 0
    ? undefined
    : { field: 'templates', reason: `not found in the account: ${missing.join(', ')}` };
}

async function findModeProblem(
  transaction: Kysely,
  { mode = 'live' }: ApiKeyRequest,
): Promise<FaultDetail | undefined> {
  if (mode === 'live' || (await canHaveTestKeys(transaction))) return undefined;
  return {
    field: 'mode',
    reason:
      'can’t be test while a process of an earlier release runs. Once every process runs this release, run `bin/signalpost migrate`, and retry',
  };
}

async function findCountProblem(
  transaction: Kysely,
  accountId: AccountId,
): Promise<FaultDetail | undefined> {
  if ((await countApiKeys(transaction, accountId)) < accountLimits.apiKeys.max) return undefined;
  return {
    field: 'name',
    reason: `the account already has ${accountLimits.apiKeys.max} keys; revoke one first`,
  };
}

/** Maximum hours during which a key and its replacement both work. */
export const maxOverlapHours = 720;

/**
 * A key that can be replaced, with the scopes that its replacement will have: scopes that keys can no longer have are
 * dropped.
 * @returns undefined if the account has no such key, or it has expired
 */
export async function readLiveApiKey(
  kysely: Kysely,
  accountId: AccountId,
  id: string,
  now: number,
): Promise<ApiKey | undefined> {
  const key = await readApiKey(kysely, accountId, id);
  if (key === undefined || (key.expiresAt !== null && key.expiresAt.getTime() <= now))
    return undefined;
  return { ...key, scopes: key.scopes.filter((scope) => keyScopes.includes(scope)) };
}

interface ApiKeyRotation {
  readonly accountId: AccountId;
  readonly old: ApiKey;
  readonly overlapHours: number;
  readonly secrets: SigningSecrets;
  /** Undefined: the command line. */
  readonly createdBy: PersonId | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Replaces an API key within the transaction: creates one with the same name, scopes, limits and lifetime, with a
 * secret to sign if the old one has one, and sets the old one to expire after the overlap.
 * @returns the new key's text, available only now, or why none was created
 */
export async function replaceApiKey(
  transaction: Kysely,
  { accountId, old, overlapHours, secrets, createdBy, now }: ApiKeyRotation,
): Promise<CreatedApiKey> {
  const { id, name, mode, scopes, networks, templates, createdAt, expiresAt } = old;
  const created = await issueApiKey(transaction, {
    event: 'api-key-rotated',
    accountId,
    name,
    mode,
    scopes,
    networks,
    templates,
    createdBy,
    signing: old.canSign ? secrets : undefined,
    expiresAt:
      expiresAt === null ? undefined : new Date(now + expiresAt.getTime() - createdAt.getTime()),
  });
  if (created.problem === undefined)
    await expireApiKey(transaction, accountId, id, {
      replacedBy: created.id,
      expiresAt: new Date(now + overlapHours * 3_600_000),
    });
  return created;
}

/** What happens to the API keys of a person who is about to be disabled. */
export interface ApiKeyTransfer {
  /** Number of transferred keys by account. */
  readonly transferred: ReadonlyMap<AccountId, number>;
  /** Number of keys removed with the person. */
  readonly notTransferred: number;
}

/**
 * Transfers the API keys that a person created to someone else, in every account that the new owner owns; the
 * remaining keys are removed with the person.
 * @param newOwnerEmail undefined: no transfer
 * @returns undefined if there are keys and the new owner can take over none of them
 */
export async function transferAllApiKeys(
  transaction: Kysely,
  from: PersonId,
  newOwnerEmail: string | undefined,
): Promise<ApiKeyTransfer | undefined> {
  const createdCount = await countApiKeysCreatedBy(transaction, from);
  const transferred = new Map<AccountId, number>();
  if (newOwnerEmail === undefined) return { transferred, notTransferred: createdCount };
  const newOwner = await findPersonByEmail(transaction, newOwnerEmail);
  if (newOwner === undefined || newOwner.id === from) return undefined;
  for (const accountId of await findTransferAccounts(transaction, from, newOwner.id)) {
    const count = await transferApiKeys(transaction, accountId, from, newOwner.id);
    if (count > 0) transferred.set(accountId, count);
  }
  if (createdCount > 0 && transferred.size === 0) return undefined;
  return { transferred, notTransferred: await countApiKeysCreatedBy(transaction, from) };
}
