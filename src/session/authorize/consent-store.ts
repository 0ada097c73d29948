import { sql } from 'kysely';
import type { Database } from '../../foundation/database/open-database.ts';
import type { AccountId, ClientId, PersonId } from '../../foundation/ids.ts';
import type { BrowserSession } from '../browser/browser-session-store.ts';
import { revokePairTokens } from '../revoke-tokens-store.ts';

/** A consent as shown to the person who gave it. */
export interface Consent {
  readonly clientId: ClientId;
  readonly integrationName: string;
  readonly accountId: AccountId;
  readonly accountName: string;
  readonly grantedAt: Date;
}

/** Consents, and the accounts that a person can choose from. */
export class ConsentStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** The accounts of a person that their session reaches, oldest membership first. */
  async accountsOf({
    personId,
    provider,
  }: Pick<BrowserSession, 'personId' | 'provider'>): Promise<
    { readonly id: AccountId; readonly name: string }[]
  > {
    const bound = provider?.accountId ?? null;
    const withProvider = provider !== undefined;
    const { rows } = await sql<{ id: AccountId; name: string }>`
      select a.id, a.name from membership m join account a on a.id = m.account_id
      where m.person_id = ${personId} and (${bound}::text is null or m.account_id = ${bound})
        and (${withProvider}::boolean or a.sign_in <> 'single-sign-on' or m.role = 'service'
          or (select operator from person where id = m.person_id))
      order by m.created_at, a.id`.execute(this.#database.kysely);
    return rows;
  }

  /** The account last chosen for this integration, or undefined. */
  async chosenAccount(personId: PersonId, clientId: ClientId): Promise<AccountId | undefined> {
    const { rows } = await sql<{ account_id: AccountId }>`
      select account_id from consent where person_id = ${personId} and client_id = ${clientId}`.execute(
      this.#database.kysely,
    );
    return rows[0]?.account_id;
  }

  /** The consents of a person, newest first. */
  async list(personId: PersonId): Promise<Consent[]> {
    const { rows } = await sql<{
      client_id: ClientId;
      integration_name: string;
      account_id: AccountId;
      account_name: string;
      granted_at: Date;
    }>`
      select c.client_id, i.name as integration_name, c.account_id, a.name as account_name, c.granted_at
      from consent c join integration i on i.client_id = c.client_id join account a on a.id = c.account_id
      where c.person_id = ${personId} order by c.granted_at desc, c.client_id`.execute(
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
   * Withdraws a consent and revokes the person's tokens with that integration on all nodes.
   * @returns false if there was none
   */
  async withdraw(personId: PersonId, clientId: ClientId): Promise<boolean> {
    return this.#database.kysely.transaction().execute(async (transaction) => {
      const { rows } = await sql`
        delete from consent where person_id = ${personId} and client_id = ${clientId} returning 1`.execute(
        transaction,
      );
      if (rows.length > 0) await revokePairTokens(transaction, personId, clientId);
      return rows.length > 0;
    });
  }
}
