import { sql } from 'kysely';
import type { Database } from '../../foundation/database/open-database.ts';
import type { AccountId, ClientId, PersonId } from '../../foundation/ids.ts';

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
