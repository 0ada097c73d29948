import { makeApiKey } from '../../src/access/api-key.ts';
import { type ApiKeyLimits, addApiKey } from '../../src/access/api-key-store.ts';
import { keyScopes } from '../../src/access/permission.ts';
import type { Database } from '../../src/foundation/database/open-database.ts';
import type { AccountId, PersonId } from '../../src/foundation/ids.ts';

/** Adds an API key, with every scope unless limited. @returns its text */
export async function addKey(
  database: Pick<Database, 'kysely'>,
  accountId: AccountId,
  key: Partial<ApiKeyLimits> & {
    readonly createdBy?: PersonId;
    readonly expiresAt?: Date;
  } = {},
): Promise<string> {
  const { text, hash, hint } = makeApiKey(accountId);
  await addApiKey(database.kysely, {
    accountId,
    hash,
    hint,
    name: 'Test',
    scopes: key.scopes ?? keyScopes,
    networks: key.networks ?? null,
    templates: key.templates ?? null,
    createdBy: key.createdBy,
    expiresAt: key.expiresAt,
  });
  return text;
}
