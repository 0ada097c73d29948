import { type Kysely, sql } from 'kysely';
import { tokenTopic } from '../access/token-checker.ts';
import { announceChange } from '../foundation/database/announce.ts';
import type { Tables } from '../foundation/database/open-database.ts';
import type { ClientId, PersonId } from '../foundation/ids.ts';

/*
 * A refresh or a first use of a code may be under way while tokens end. Each statement waits for those that hold its
 * rows, and only the statement after it sees what they issued; so codes end before pairs, and pairs before tokens.
 */

/**
 * Ends every token, code and browser session of a person on all nodes, inside the caller's transaction:
 * after a change of password, or when the person is disabled.
 */
export async function revokePersonTokens(
  transaction: Kysely<Tables>,
  personId: PersonId,
): Promise<void> {
  await revokePersonCodes(transaction, personId);
  await sql`
    update session_pair set refresh_hash = null, changed_at = now() where person_id = ${personId}`.execute(
    transaction,
  );
  await sql`
    with browsers as (delete from browser_session where person_id = ${personId})
    delete from access_token where person_id = ${personId}`.execute(transaction);
  await announceChange(transaction, tokenTopic, `person:${personId}`);
}

/**
 * Ends the codes of a person. A transaction that changes the person's row calls it first: the code grant locks the code
 * and then the person, and two that lock in different orders would wait for each other.
 */
export async function revokePersonCodes(
  transaction: Kysely<Tables>,
  personId: PersonId,
): Promise<void> {
  await sql`delete from grant_code where person_id = ${personId}`.execute(transaction);
}

/** Ends every token and code that an integration holds, on all nodes, inside the caller's transaction. */
export async function revokeClientTokens(
  transaction: Kysely<Tables>,
  clientId: ClientId,
): Promise<void> {
  await sql`delete from grant_code where client_id = ${clientId}`.execute(transaction);
  await sql`
    update session_pair set refresh_hash = null, changed_at = now() where client_id = ${clientId}`.execute(
    transaction,
  );
  await sql`delete from access_token where client_id = ${clientId}`.execute(transaction);
  await announceChange(transaction, tokenTopic, `client:${clientId}`);
}

/** Ends the tokens that a grant code issued, and those that were refreshed from them, inside the caller's transaction. */
export async function revokeCodeTokens(
  transaction: Kysely<Tables>,
  codeHash: Buffer,
): Promise<void> {
  await sql`
    update session_pair set refresh_hash = null, changed_at = now()
    where code_hash = ${codeHash} and refresh_hash is not null`.execute(transaction);
  const { rows } = await sql<{ hash: Buffer }>`
    delete from access_token where code_hash = ${codeHash} returning hash`.execute(transaction);
  for (const { hash } of rows)
    await announceChange(transaction, tokenTopic, `hash:${hash.toString('hex')}`);
}

/** Ends every token and code of a person with one integration, inside the caller's transaction. */
export async function revokePairTokens(
  transaction: Kysely<Tables>,
  personId: PersonId,
  clientId: ClientId,
): Promise<void> {
  await sql`
    delete from grant_code where person_id = ${personId} and client_id = ${clientId}`.execute(
    transaction,
  );
  await sql`
    update session_pair set refresh_hash = null, changed_at = now()
    where person_id = ${personId} and client_id = ${clientId}`.execute(transaction);
  await sql`
    delete from access_token where person_id = ${personId} and client_id = ${clientId}`.execute(
    transaction,
  );
  await announceChange(transaction, tokenTopic, `person:${personId}`);
}

/**
 * Ends one access token of a client, inside the caller's transaction.
 * @returns false where the client holds no such token
 */
export async function revokeAccessToken(
  transaction: Kysely<Tables>,
  hash: Buffer,
  clientId: ClientId,
): Promise<boolean> {
  const { rows } = await sql`
    delete from access_token where hash = ${hash} and client_id = ${clientId} returning 1`.execute(
    transaction,
  );
  await announceChange(transaction, tokenTopic, `hash:${hash.toString('hex')}`);
  return rows.length > 0;
}
