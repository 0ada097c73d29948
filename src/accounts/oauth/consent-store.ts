import { type RawBuilder, sql } from 'kysely';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, hasRow } from '../../base/database/statements.ts';
import type { AccountId, ClientId, PersonId } from '../../base/values/ids.ts';
import { onlyAccount, type ReachedPerson } from '../account/reach.ts';
import { revokeReachedTokens } from './revoke-tokens-store.ts';

/** A consent as shown to the person who gave it. */
export interface Consent {
  readonly clientId: ClientId;
  readonly integrationName: string;
  readonly accountId: AccountId;
  readonly accountName: string;
  readonly grantedAt: Date;
}

/** The accounts of a person that are reached, oldest membership first. */
export function readReachedAccounts(
  kysely: Kysely,
  { personId, reach }: ReachedPerson,
): Promise<{ readonly id: AccountId; readonly name: string }[]> {
  const bound = onlyAccount(reach);
  return allRows<{ id: AccountId; name: string }>(kysely)`
    select a.id, a.name from membership m join account a on a.id = m.account_id
    where m.person_id = ${personId} and (${bound}::text is null or m.account_id = ${bound})
    order by m.created_at, a.id`;
}

/** The account last chosen for an integration, if it is reached, and whether the person uses it beyond what is reached. */
export async function readConsentState(
  kysely: Kysely,
  person: ReachedPerson,
  clientId: ClientId,
): Promise<{ readonly chosen: AccountId | undefined; readonly isUsedBeyond: boolean }> {
  const rows = await allRows<{ chosen: AccountId | null; isUsedBeyond: boolean }>(kysely)`
    select (select account_id from consent where ${isReached(person)} and client_id = ${clientId}) as chosen,
      ${isUsedBeyond(person, clientId)} as "isUsedBeyond"`;
  return { chosen: rows[0]?.chosen ?? undefined, isUsedBeyond: rows[0]?.isUsedBeyond === true };
}

/** The consents of a person that are reached, newest first. */
export function listReachedConsents(kysely: Kysely, person: ReachedPerson): Promise<Consent[]> {
  return allRows<Consent>(kysely)`
    select c.client_id as "clientId", i.name as "integrationName", c.account_id as "accountId", a.name as "accountName",
      c.granted_at as "grantedAt"
    from consent c join integration i on i.client_id = c.client_id join account a on a.id = c.account_id
    where ${isReached(person, 'c')} order by c.granted_at desc, c.client_id`;
}

/**
 * Withdraws a consent that is reached and revokes the person's tokens with that integration that are reached, on all
 * nodes.
 * @returns false if there was none
 */
export async function withdrawConsent(
  kysely: Kysely,
  person: ReachedPerson,
  clientId: ClientId,
): Promise<boolean> {
  return kysely.transaction().execute(async (transaction) => {
    const rows = await allRows(transaction)`
      delete from consent where ${isReached(person)} and client_id = ${clientId} returning 1`;
    if (rows.length > 0) await revokeReachedTokens(transaction, person, clientId);
    return rows.length > 0;
  });
}

/**
 * Consents or refresh tokens of other accounts, or of all. A person has one of each with an integration, so a new consent
 * would end them.
 */
export function isUsedBeyond(
  { personId, reach }: ReachedPerson,
  clientId: ClientId,
): RawBuilder<boolean> {
  const account = onlyAccount(reach);
  return account === null
    ? sql`false`
    : sql`(exists (
          select from consent
          where person_id = ${personId} and client_id = ${clientId} and account_id <> ${account})
        or exists (
          select from session_pair
          where person_id = ${personId} and client_id = ${clientId} and refresh_hash is not null
            and account_id is distinct from ${account}))`;
}

function isReached({ personId, reach }: ReachedPerson, table = 'consent'): RawBuilder<boolean> {
  const account = onlyAccount(reach);
  const [person, chosen] = [sql.ref(`${table}.person_id`), sql.ref(`${table}.account_id`)];
  return account === null
    ? sql`${person} = ${personId}`
    : sql`${person} = ${personId} and ${chosen} = ${account}`;
}

/** A person's consent to an integration. */
interface GrantedConsent {
  readonly email: string;
  readonly accountId: string;
  readonly grantedAt: Date;
}

/** Consents given to an integration of an account, ordered by address. */
export function readConsents(
  kysely: Kysely,
  accountId: AccountId,
  clientId: ClientId,
): Promise<GrantedConsent[]> {
  return allRows<GrantedConsent>(kysely)`
    select p.email, c.account_id as "accountId", c.granted_at as "grantedAt"
    from consent c
    join integration i on i.client_id = c.client_id and i.account_id = ${accountId}
    join person p on p.id = c.person_id
    where c.client_id = ${clientId} order by p.email limit 1000`;
}

/** @returns false if there is no such consent */
export function removeConsent(
  transaction: Kysely,
  accountId: AccountId,
  clientId: ClientId,
  personId: PersonId,
): Promise<boolean> {
  return hasRow(transaction)`
    delete from consent c using integration i
    where i.client_id = c.client_id and i.account_id = ${accountId} and c.client_id = ${clientId}
      and c.person_id = ${personId}
    returning 1`;
}
