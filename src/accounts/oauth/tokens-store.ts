import { type Kysely, sql } from 'kysely';
import type { Tables } from '../../base/database/open-database.ts';
import { allRows, firstRow, firstValue, hasRow } from '../../base/database/statements.ts';
import type { AccountId, ClientId, PersonId } from '../../base/values/ids.ts';

/** Lifetime of an access token (contract section 8). */
export const accessTokenSeconds = 3600;

/** An initial token request with a verified grant. */
interface InitialTokenRequest {
  readonly personId: PersonId;
  readonly clientId: ClientId;
  /** The account of a code grant; undefined: all accounts of the person. */
  readonly accountId: AccountId | undefined;
  /**
   * The hash that the password matched: if the password has changed since, no tokens are issued. Undefined: no
   * password was used.
   */
  readonly passwordHash: string | undefined;
  /** The authorization code that was consumed. */
  readonly codeHash: Buffer | undefined;
  readonly accessHash: Buffer;
  readonly refreshHash: Buffer;
}

/**
 * Uses one request of the allowance (five in a sliding hour, contract section 8, unless raised for the integration),
 * replaces the pair's refresh token and issues the access token, in one statement. Its row lock on the pair
 * serializes concurrent requests on all nodes.
 * @returns false if the allowance is used up, or the person or the integration may no longer have tokens
 */
export function issueTokens(
  executor: Kysely<Tables>,
  request: InitialTokenRequest,
): Promise<boolean> {
  const password = request.passwordHash ?? null;
  const accountId = request.accountId ?? null;
  const codeHash = request.codeHash ?? null;
  return hasRow(executor)`
    with moment as (select now() as at),
    holder as (
      select person.id, integration.initial_requests_per_hour as allowance
      from person, integration
      where person.id = ${request.personId} and person.disabled_at is null
        and (${password}::text is null or person.password_hash = ${password})
        and integration.client_id = ${request.clientId} and integration.disabled_at is null
        and (${accountId}::text is null or exists (
          select from membership where account_id = ${accountId} and person_id = ${request.personId}))
      for share of person),
    pair as (
      insert into session_pair as pair (person_id, client_id, account_id, code_hash, refresh_hash, initial_requests, changed_at)
      select holder.id, ${request.clientId}, ${accountId}, ${codeHash}::bytea, ${request.refreshHash}, array[moment.at], moment.at
      from holder, moment
      on conflict (person_id, client_id) do update set
        account_id = excluded.account_id,
        code_hash = excluded.code_hash,
        spent_refresh_hash = coalesce(pair.refresh_hash, pair.spent_refresh_hash),
        refresh_hash = excluded.refresh_hash,
        initial_requests = array(
          select t from unnest(pair.initial_requests) t where t > excluded.changed_at - interval '1 hour'
        ) || excluded.changed_at,
        changed_at = excluded.changed_at
      where (
        select count(*) from unnest(pair.initial_requests) t where t > excluded.changed_at - interval '1 hour'
      ) < (select allowance from holder)
      returning person_id, client_id, account_id, code_hash)
    insert into access_token (hash, person_id, client_id, account_id, code_hash, issued_at, expires_at)
    select ${request.accessHash}, person_id, client_id, account_id, code_hash, at, at + ${accessTokenSeconds} * interval '1 s'
    from pair, moment
    returning 1`;
}

/**
 * Seconds until the pair's next initial request is allowed: when the oldest counted one leaves the hour.
 * @returns undefined if one is allowed now
 */
export async function secondsUntilAllowed(
  executor: Kysely<Tables>,
  pair: { readonly personId: PersonId; readonly clientId: ClientId },
): Promise<number | undefined> {
  const rows = await allRows<{ seconds: number }>(executor)`
    select ceil(extract(epoch from t + interval '1 hour' - now()))::integer as seconds
    from session_pair, unnest(initial_requests) t
    where person_id = ${pair.personId} and client_id = ${pair.clientId}
    order by t desc
    offset (select initial_requests_per_hour - 1 from integration where client_id = ${pair.clientId})
    limit 1`;
  const seconds = rows[0]?.seconds;
  return seconds !== undefined && seconds > 0 ? seconds : undefined;
}

interface RefreshRequest {
  readonly clientId: ClientId;
  /** The refresh token being used. */
  readonly usedHash: Buffer;
  readonly accessHash: Buffer;
  readonly refreshHash: Buffer;
}

/**
 * Replaces the live refresh token and issues an access token in one statement: of two concurrent uses of one token
 * on any nodes, the second finds the row changed and gets nothing.
 * @returns false if the token is not the live one of a pair of this client, or its person may no longer use it
 */
export function refreshTokens(executor: Kysely<Tables>, request: RefreshRequest): Promise<boolean> {
  return hasRow(executor)`
    with moment as (select now() as at),
    pair as (
      update session_pair pair
      set spent_refresh_hash = pair.refresh_hash, refresh_hash = ${request.refreshHash}, changed_at = moment.at
      from moment, person
      where pair.refresh_hash = ${request.usedHash} and pair.client_id = ${request.clientId}
        and person.id = pair.person_id and person.disabled_at is null
        and (pair.account_id is null or exists (
          select from membership
          where membership.account_id = pair.account_id and membership.person_id = pair.person_id))
      returning pair.person_id, pair.client_id, pair.account_id, pair.code_hash, moment.at)
    insert into access_token (hash, person_id, client_id, account_id, code_hash, issued_at, expires_at)
    select ${request.accessHash}, person_id, client_id, account_id, code_hash, at, at + ${accessTokenSeconds} * interval '1 s'
    from pair
    returning 1`;
}

/** The person whose last used refresh token this was, if known. */
export function findPersonOfUsedToken(
  executor: Kysely<Tables>,
  hash: Buffer,
): Promise<PersonId | undefined> {
  return firstValue<PersonId>(executor)`
    select person_id from session_pair where refresh_hash = ${hash} or spent_refresh_hash = ${hash} limit 1`;
}

/** What a client can learn about its own live token. */
export interface OwnToken {
  readonly personId: PersonId;
  readonly email: string;
  readonly accountId: AccountId | null;
  /** Seconds since the epoch; null for refresh tokens, which have no fixed lifetime. */
  readonly issuedAt: number | null;
  readonly expiresAt: number | null;
}

/** This client's live access or refresh token with this hash, or undefined. */
export function findOwnToken(
  executor: Kysely<Tables>,
  kind: 'access' | 'refresh',
  hash: Buffer,
  clientId: ClientId,
): Promise<OwnToken | undefined> {
  const token =
    kind === 'access'
      ? sql`
        select person_id, account_id, issued_at, expires_at from access_token
        where hash = ${hash} and client_id = ${clientId} and expires_at > now()`
      : sql`
        select person_id, account_id, null::timestamptz as issued_at, null::timestamptz as expires_at from session_pair
        where refresh_hash = ${hash} and client_id = ${clientId}`;
  return firstRow<OwnToken>(executor)`
    select t.person_id as "personId", p.email, t.account_id as "accountId",
      floor(extract(epoch from t.issued_at))::float8 as "issuedAt",
      floor(extract(epoch from t.expires_at))::float8 as "expiresAt"
    from (${token}) t join person p on p.id = t.person_id and p.disabled_at is null
    where t.account_id is null or exists (
      select from membership m where m.account_id = t.account_id and m.person_id = t.person_id)`;
}
