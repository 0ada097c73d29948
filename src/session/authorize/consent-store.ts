import { type RawBuilder, sql } from 'kysely';
import { onlyAccount, type ReachedPerson } from '../../account/reach.ts';
import type { Database } from '../../foundation/database/open-database.ts';
import type { AccountId, ClientId, PersonId } from '../../foundation/ids.ts';
import { revokeReachedTokens } from '../revoke-tokens-store.ts';

/** A consent as shown to the person who gave it. */
export interface Consent {
  readonly clientId: ClientId;
  readonly integrationName: string;
  readonly accountId: AccountId;
  readonly accountName: string;
  readonly grantedAt: Date;
}

/** Consents, and the accounts that a person belongs to. */
export class ConsentStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** The accounts of a person that are reached, oldest membership first. */
  async accountsOf({
    personId,
    reach,
  }: ReachedPerson): Promise<{ readonly id: AccountId; readonly name: string }[]> {
    const bound = onlyAccount(reach);
    const { rows } = await sql<{ id: AccountId; name: string }>`
      select a.id, a.name from membership m join account a on a.id = m.account_id
      where m.person_id = ${personId} and (${bound}::text is null or m.account_id = ${bound})
      order by m.created_at, a.id`.execute(this.#database.kysely);
    return rows;
  }

  /** The account last chosen for this integration, if it is reached. */
  async chosenAccount(person: ReachedPerson, clientId: ClientId): Promise<AccountId | undefined> {
    const { rows } = await sql<{ account_id: AccountId }>`
      select account_id from consent where ${isReached(person)} and client_id = ${clientId}`.execute(
      this.#database.kysely,
    );
    return rows[0]?.account_id;
  }

  /** Whether a person uses an integration beyond what is reached. */
  async isUsedBeyond(person: ReachedPerson, clientId: ClientId): Promise<boolean> {
    const { rows } = await sql<{ beyond: boolean }>`
      select ${isUsedBeyond(person, clientId)} as beyond`.execute(this.#database.kysely);
    return rows[0]?.beyond === true;
  }

  /** The consents of a person that are reached, newest first. */
  async list(person: ReachedPerson): Promise<Consent[]> {
    const { rows } = await sql<{
      client_id: ClientId;
      integration_name: string;
      account_id: AccountId;
      account_name: string;
      granted_at: Date;
    }>`
      select c.client_id, i.name as integration_name, c.account_id, a.name as account_name, c.granted_at
      from consent c join integration i on i.client_id = c.client_id join account a on a.id = c.account_id
      where ${isReached(person, 'c')} order by c.granted_at desc, c.client_id`.execute(
      this.#database.kysely,
    );
    return rows.map((row) => ({
      clientId: row.client_id,
      integrationName: row.integration_name,
      accountId: row.account_id,
      accountName: row.account_name,
      grantedAt: row.granted_at,
    }));
  }

  /**
   * Withdraws a consent that is reached and revokes the person's tokens with that integration that are reached, on all
   * nodes.
   * @returns false if there was none
   */
  async withdraw(person: ReachedPerson, clientId: ClientId): Promise<boolean> {
    return this.#database.kysely.transaction().execute(async (transaction) => {
      const { rows } = await sql`
        delete from consent where ${isReached(person)} and client_id = ${clientId} returning 1`.execute(
        transaction,
      );
      if (rows.length > 0) await revokeReachedTokens(transaction, person, clientId);
      return rows.length > 0;
    });
  }
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
export async function readConsents(
  kysely: Database['kysely'],
  accountId: AccountId,
  clientId: ClientId,
): Promise<GrantedConsent[]> {
  const { rows } = await sql<GrantedConsent>`
    select p.email, c.account_id as "accountId", c.granted_at as "grantedAt"
    from consent c
    join integration i on i.client_id = c.client_id and i.account_id = ${accountId}
    join person p on p.id = c.person_id
    where c.client_id = ${clientId} order by p.email limit 1000`.execute(kysely);
  return rows;
}

/** @returns false if there is no such consent */
export async function removeConsent(
  transaction: Database['kysely'],
  accountId: AccountId,
  clientId: ClientId,
  personId: PersonId,
): Promise<boolean> {
  const { rows } = await sql`
    delete from consent c using integration i
    where i.client_id = c.client_id and i.account_id = ${accountId} and c.client_id = ${clientId}
      and c.person_id = ${personId}
    returning 1`.execute(transaction);
  return rows.length === 1;
}
