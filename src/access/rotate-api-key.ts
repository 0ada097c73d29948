import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId, PersonId } from '../foundation/ids.ts';
import { type ApiKey, expireApiKey, readApiKey } from './api-key-store.ts';
import { type CreatedApiKey, issueApiKey } from './create-api-key.ts';
import { keyScopes } from './permission.ts';

/** Maximum hours during which a key and its replacement both work. */
export const maxOverlapHours = 720;

type Kysely = Database['kysely'];

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

export interface ApiKeyRotation {
  readonly accountId: AccountId;
  readonly old: ApiKey;
  readonly overlapHours: number;
  /** Undefined: the command line. */
  readonly createdBy: PersonId | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Replaces an API key within the transaction: creates one with the same name, scopes, limits and lifetime, and sets the
 * old one to expire after the overlap.
 * @returns the new key's text, available only now, or why none was created
 */
export async function replaceApiKey(
  transaction: Kysely,
  { accountId, old, overlapHours, createdBy, now }: ApiKeyRotation,
): Promise<CreatedApiKey> {
  const { id, name, scopes, networks, templates, createdAt, expiresAt } = old;
  const created = await issueApiKey(transaction, {
    event: 'api-key-rotated',
    accountId,
    name,
    scopes,
    networks,
    templates,
    createdBy,
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
