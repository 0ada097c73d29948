import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { ApiKeyParser, generateApiKey } from '../../src/accounts/access/api-key.ts';
import { type ApiKeyLimits, addApiKey } from '../../src/accounts/access/api-key-store.ts';
import { issueApiKey } from '../../src/accounts/access/issue-api-key.ts';
import { keyScopes } from '../../src/accounts/access/permission.ts';
import type { KeyMode } from '../../src/accounts/access/principal.ts';
import { SigningSecrets } from '../../src/accounts/access/signing-secrets.ts';
import type { Database } from '../../src/base/database/open-database.ts';
import type { MasterKey } from '../../src/base/secrets/master-key.ts';
import type { AccountId, PersonId } from '../../src/base/values/ids.ts';

/** Adds an API key, with all scopes by default. @returns its text */
export async function addKey(
  database: Pick<Database, 'kysely'>,
  accountId: AccountId,
  key: Partial<ApiKeyLimits> & {
    readonly mode?: KeyMode;
    readonly createdBy?: PersonId;
    readonly expiresAt?: Date;
  } = {},
): Promise<string> {
  const { text, hash, hint } = generateApiKey(accountId, key.mode);
  await addApiKey(database.kysely, {
    accountId,
    hash,
    hint,
    name: 'Test',
    mode: key.mode,
    scopes: key.scopes ?? keyScopes,
    networks: key.networks ?? null,
    templates: key.templates ?? null,
    createdBy: key.createdBy,
    expiresAt: key.expiresAt,
  });
  return text;
}

/** Adds an API key that can sign requests, too. */
export async function addSigningKey(
  database: Pick<Database, 'kysely'>,
  key: MasterKey,
  accountId: AccountId,
  limits: Partial<ApiKeyLimits> & { readonly expiresAt?: Date } = {},
) {
  const created = await issueApiKey(database.kysely, {
    accountId,
    name: 'Signs',
    scopes: limits.scopes ?? keyScopes,
    networks: limits.networks ?? null,
    templates: limits.templates ?? null,
    createdBy: undefined,
    expiresAt: limits.expiresAt,
    signing: new SigningSecrets(key),
  });
  if (created.problem !== undefined || created.signing === undefined)
    throw new Error(`no key was created: ${created.problem?.reason}`);
  const { id, text, signing } = created;
  return { id, text, ...signing };
}

/** Adds an API key as release 0.1.0 did, with a hash that depends on the master key. @returns its text */
export async function addEarlierKey(
  database: Pick<Database, 'kysely'>,
  key: MasterKey,
  accountId: AccountId,
): Promise<string> {
  const text = `spk.${accountId}.${randomBytes(32).toString('base64url')}`;
  const hash = new ApiKeyParser(key).parse(text)?.hash ?? Buffer.alloc(0);
  await sql`
    insert into api_key (account_id, id, hash, name, scopes)
    values (${accountId}, gen_random_uuid(), ${hash}, 'Earlier', ${keyScopes})`.execute(
    database.kysely,
  );
  return text;
}
