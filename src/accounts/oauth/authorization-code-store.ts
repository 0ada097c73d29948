import type { Kysely } from 'kysely';
import type { Tables } from '../../base/database/open-database.ts';
import { firstRow, hasRow } from '../../base/database/statements.ts';
import type { AccountId, ClientId, PersonId } from '../../base/values/ids.ts';
import { onlyAccount, type ReachedPerson } from '../account/reach.ts';
import { isUsedBeyond } from './consent-store.ts';

/** Lifetime of an authorization code. */
const authorizationCodeSeconds = 60;

/** What an authorization code authorizes. */
export interface AuthorizationCode {
  readonly personId: PersonId;
  readonly clientId: ClientId;
  readonly accountId: AccountId;
  readonly redirectUri: string;
  readonly redirectUriSent: boolean;
  /** Null without PKCE. */
  readonly codeChallenge: string | null;
}

/**
 * Saves the person's consent and the code in one statement.
 * @returns false if the person uses the integration beyond what is reached; then nothing changes
 */
export function saveAuthorizationCode(
  executor: Kysely<Tables>,
  hash: Buffer,
  person: ReachedPerson,
  code: Omit<AuthorizationCode, 'personId'>,
): Promise<boolean> {
  const account = onlyAccount(person.reach);
  return hasRow(executor)`
    with consented as (
      insert into consent (person_id, client_id, account_id, granted_at)
      select ${person.personId}, ${code.clientId}, ${code.accountId}, now()
      where not ${isUsedBeyond(person, code.clientId)}
      on conflict (person_id, client_id) do update
      set account_id = excluded.account_id, granted_at = excluded.granted_at
      where ${account}::text is null or consent.account_id = ${account}
      returning *)
    insert into grant_code (hash, person_id, client_id, account_id, redirect_uri, redirect_uri_sent, code_challenge, expires_at)
    select ${hash}, person_id, client_id, account_id, ${code.redirectUri}, ${code.redirectUriSent},
      ${code.codeChallenge}, granted_at + ${authorizationCodeSeconds} * interval '1 s'
    from consented
    returning 1`;
}

/**
 * Consumes a code of this client: of concurrent uses on any nodes, one succeeds. The row stays locked until the
 * transaction ends, so a rollback restores the code.
 * @returns undefined if the code is unknown, belongs to another client, was used, is older than 60 seconds, or the person
 *   consented for another account since
 */
export function consumeAuthorizationCode(
  transaction: Kysely<Tables>,
  hash: Buffer,
  clientId: ClientId,
): Promise<AuthorizationCode | undefined> {
  return firstRow<AuthorizationCode>(transaction)`
    update grant_code set used_at = now()
    where hash = ${hash} and client_id = ${clientId} and used_at is null
      and expires_at > now() and exists (
        select from consent c where c.person_id = grant_code.person_id and c.client_id = grant_code.client_id
          and c.account_id = grant_code.account_id)
    returning person_id as "personId", client_id as "clientId", account_id as "accountId", redirect_uri as "redirectUri",
      redirect_uri_sent as "redirectUriSent", code_challenge as "codeChallenge"`;
}

/** The person and the client of a used code, or undefined. */
export function findUsedCode(
  executor: Kysely<Tables>,
  hash: Buffer,
): Promise<{ readonly personId: PersonId; readonly clientId: ClientId } | undefined> {
  return firstRow<{ personId: PersonId; clientId: ClientId }>(executor)`
    select person_id as "personId", client_id as "clientId"
    from grant_code where hash = ${hash} and used_at is not null`;
}
