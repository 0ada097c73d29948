import { sql } from 'kysely';
import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId, PersonId } from '../foundation/ids.ts';
import { hasSecondFactor } from './second-factor-sql.ts';

type Kysely = Database['kysely'];

/** Why a change that takes the last owner from an account isn't made; what to do first follows. */
export const lastOwnerReason =
  'no other owner could sign in: they are disabled, have no password, passkey or provider to sign in with, or don’t meet the access policy';

/**
 * Makes a change, unless afterwards no owner of one of the accounts can sign in, although one could before. An owner can sign in
 * who is enabled, has a way to that counts for the membership, and meets the account's policy. Locks the owners, so that two can't leave at once.
 * @returns the account that would be locked; the change is undone then
 */
export async function changeKeepingOwners(
  transaction: Kysely,
  accountIds: readonly AccountId[],
  change: () => Promise<unknown>,
): Promise<AccountId | undefined> {
  await sql`
    select from membership where account_id = any (${accountIds}::text[]) and role = 'owner'
    order by account_id, person_id for update`.execute(transaction);
  const before = await readOwnerAccess(transaction, accountIds);
  await sql`savepoint before_change`.execute(transaction);
  await change();
  const after = await readOwnerAccess(transaction, accountIds);
  const locked = accountIds.find((id) => (after.get(id) ?? 0) < (before.get(id) ?? 0));
  if (locked !== undefined) await sql`rollback to savepoint before_change`.execute(transaction);
  return locked;
}

/** By account: 2 if an owner can sign in, 1 if enabled owners only lack what they need for it, missing if there is none. */
async function readOwnerAccess(
  transaction: Kysely,
  accountIds: readonly AccountId[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ id: string; access: number }>`
    select a.id, max(case when (
        (a.sign_in = 'own-choice' or p.operator) and m.granted_by is null
          and (p.password_hash is not null or exists (select from passkey k where k.person_id = p.id))
        or exists (
          select from provider_identity i left join account_sign_in_provider s on s.account_id = i.provider_account
          where i.person_id = p.id
            and (i.provider_account is null and m.granted_by is distinct from 'account'
              or i.provider_account = a.id and s.issuer = i.issuer and m.granted_by is distinct from 'installation')))
        and (a.second_factor = 'own-choice' or ${hasSecondFactor(sql.ref('p.id'))})
      then 2 else 1 end) as access
    from account a join membership m on m.account_id = a.id join person p on p.id = m.person_id
    where a.id = any (${accountIds}::text[]) and m.role = 'owner' and p.disabled_at is null
    group by a.id`.execute(transaction);
  return new Map(rows.map(({ id, access }) => [id, access]));
}

/** The accounts that a person owns. */
export async function readOwnedAccounts(
  transaction: Kysely,
  personId: PersonId,
): Promise<AccountId[]> {
  const { rows } = await sql<{ id: AccountId }>`
    select account_id as id from membership where person_id = ${personId} and role = 'owner' order by 1`.execute(
    transaction,
  );
  return rows.map(({ id }) => id);
}
