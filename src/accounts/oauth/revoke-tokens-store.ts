import { type Kysely, type RawBuilder, sql } from 'kysely';
import { announceChange } from '../../base/database/announce.ts';
import type { Tables } from '../../base/database/open-database.ts';
import { allRows, run } from '../../base/database/statements.ts';
import type { ClientId, PersonId } from '../../base/values/ids.ts';
import { tokenTopic } from '../access/token-checker.ts';
import { onlyAccount, type ReachedPerson } from '../account/reach.ts';

/*
 * A refresh or the first use of a code may run concurrently with a revocation. Each statement waits for those that
 * hold its rows, and only the following statement sees what they issued; so revoke codes before pairs, and pairs
 * before tokens.
 */

/**
 * Revokes every token, code and browser session of a person on all nodes, in the caller's transaction: after a
 * password change, or when the person is disabled.
 * @param keptSession the ID of the browser session to keep; undefined: none
 */
export async function revokePersonTokens(
  transaction: Kysely<Tables>,
  personId: PersonId,
  keptSession?: string,
): Promise<void> {
  await revokeWhere(transaction, sql`person_id = ${personId}`, `person:${personId}`);
  await run(transaction)`
    delete from browser_session
    where person_id = ${personId} and id is distinct from ${keptSession ?? null}::uuid`;
}

/**
 * Revokes a person's codes. Call this before changing the person's row: the code grant locks the code and then the
 * person, and a different order could deadlock.
 */
export async function revokePersonCodes(
  transaction: Kysely<Tables>,
  personId: PersonId,
): Promise<void> {
  await run(transaction)`delete from grant_code where person_id = ${personId}`;
}

/** Revokes every token and code of an integration on all nodes, in the caller's transaction. */
export async function revokeClientTokens(
  transaction: Kysely<Tables>,
  clientId: ClientId,
): Promise<void> {
  await revokeWhere(transaction, sql`client_id = ${clientId}`, `client:${clientId}`);
}

/** Revokes the tokens that an authorization code issued, and those refreshed from them, in the caller's transaction. */
export async function revokeCodeTokens(
  transaction: Kysely<Tables>,
  codeHash: Buffer,
): Promise<void> {
  await run(transaction)`
    update session_pair set refresh_hash = null, changed_at = now()
    where code_hash = ${codeHash} and refresh_hash is not null`;
  const rows = await allRows<{ hash: Buffer }>(transaction)`
    delete from access_token where code_hash = ${codeHash} returning hash`;
  for (const { hash } of rows)
    await announceChange(transaction, tokenTopic, `hash:${hash.toString('hex')}`);
}

/**
 * Revokes a person's tokens and codes within reach, in the caller's transaction.
 * @param clientId only those of this integration
 */
export async function revokeReachedTokens(
  transaction: Kysely<Tables>,
  { personId, reach }: ReachedPerson,
  clientId?: ClientId,
): Promise<void> {
  const account = onlyAccount(reach);
  const isReached = sql`person_id = ${personId} and (${clientId ?? null}::text is null or client_id = ${clientId ?? null})
    and (${account}::text is null or account_id = ${account})`;
  await revokeWhere(transaction, isReached, `person:${personId}`);
}

/**
 * Revokes one access token of a client, in the caller's transaction.
 * @returns false if the client has no such token
 */
export async function revokeAccessToken(
  transaction: Kysely<Tables>,
  hash: Buffer,
  clientId: ClientId,
): Promise<boolean> {
  const rows = await allRows(transaction)`
    delete from access_token where hash = ${hash} and client_id = ${clientId} returning 1`;
  await announceChange(transaction, tokenTopic, `hash:${hash.toString('hex')}`);
  return rows.length > 0;
}

/** Revokes codes, pairs and tokens, in this order. @param key tells the nodes which */
async function revokeWhere(
  transaction: Kysely<Tables>,
  condition: RawBuilder<unknown>,
  key: string,
): Promise<void> {
  await run(transaction)`delete from grant_code where ${condition}`;
  await run(transaction)`
    update session_pair set refresh_hash = null, changed_at = now() where ${condition}`;
  await run(transaction)`delete from access_token where ${condition}`;
  await announceChange(transaction, tokenTopic, key);
}
