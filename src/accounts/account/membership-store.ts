import { announceChange } from '../../base/database/announce.ts';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, run } from '../../base/database/statements.ts';
import type { AccountId, PersonId } from '../../base/values/ids.ts';
import { notifyMember, notifyOwners } from '../notices/security-notice-store.ts';
import type { Membership, MembershipGranter, Role } from './account.ts';
import { personTopic } from './person-store.ts';
import { onlyAccount, type ReachedPerson } from './reach.ts';

/** A member of an account; manifests identify people by email address. */
export interface Member {
  readonly personId: PersonId;
  readonly email: string;
  readonly role: Role;
  /** Undefined: people did. */
  readonly grantedBy: MembershipGranter | undefined;
}

/** A row whose column may be null. */
type OrNull<Row, Column extends keyof Row> = Omit<Row, Column> & Record<Column, Row[Column] | null>;

/** The memberships of a person that are reached, oldest first. */
export async function readMemberships(
  kysely: Kysely,
  { personId, reach }: ReachedPerson,
): Promise<readonly Membership[]> {
  const only = onlyAccount(reach);
  const rows = await allRows<OrNull<Membership, 'grantedBy'>>(kysely)`
    select account_id as "accountId", role, granted_by as "grantedBy" from membership
    where person_id = ${personId} and (${only}::text is null or account_id = ${only})
    order by created_at, account_id`;
  return rows.map((row) => ({ ...row, grantedBy: row.grantedBy ?? undefined }));
}

/**
 * Leaves to people the memberships that an account's provider granted, so that they don't end with it.
 * @returns whose
 */
export async function keepMembershipsOfProvider(
  transaction: Kysely,
  accountId: AccountId,
): Promise<PersonId[]> {
  const rows = await allRows<{ id: PersonId }>(transaction)`
    update membership set granted_by = null
    where account_id = ${accountId} and granted_by = 'account' returning person_id as id`;
  for (const { id } of rows) await announceChange(transaction, personTopic, id);
  return rows.map(({ id }) => id);
}

/** Whether a person has a role in this account, but neither in another one nor in the installation. */
export async function belongsOnlyTo(
  kysely: Kysely,
  personId: PersonId,
  accountId: AccountId,
): Promise<boolean> {
  const rows = await allRows<{ only: boolean | null }>(kysely)`
    select bool_and(m.account_id = ${accountId}) as only from person p join membership m on m.person_id = p.id
    where p.id = ${personId} and not p.operator`;
  return rows[0]?.only === true;
}

/** The members of an account, ordered by email address. */
export async function readMembers(kysely: Kysely, accountId: AccountId): Promise<Member[]> {
  const rows = await allRows<OrNull<Member, 'grantedBy'>>(kysely)`
    select m.person_id as "personId", p.email, m.role, m.granted_by as "grantedBy"
    from membership m join person p on p.id = m.person_id
    where m.account_id = ${accountId} order by p.email`;
  return rows.map((row) => ({ ...row, grantedBy: row.grantedBy ?? undefined }));
}

/** Adds a member or changes a role. Notifies all nodes at commit, and the owners if the change involves an owner. */
export async function saveMembership(
  transaction: Kysely,
  membership: {
    readonly accountId: AccountId;
    readonly personId: PersonId;
    readonly role: Role;
    readonly grantedBy?: MembershipGranter;
  },
): Promise<void> {
  const { accountId, personId, role, grantedBy = null } = membership;
  const rows = await allRows<{ role: Role }>(transaction)`
    select role from membership where account_id = ${accountId} and person_id = ${personId}`;
  const before = rows[0]?.role;
  // Memberships created in one transaction keep their order: the first one is a password token's account.
  await run(transaction)`
    insert into membership (account_id, person_id, role, granted_by, created_at)
    values (${accountId}, ${personId}, ${role}, ${grantedBy}, clock_timestamp())
    on conflict (account_id, person_id) do update set role = excluded.role, granted_by = excluded.granted_by`;
  await announceChange(transaction, personTopic, personId);
  if (role === 'owner' && before !== 'owner') {
    await notifyOwners(transaction, accountId, 'owner-added', personId);
    // New members were invited or added by an owner or operator, so they need no notice.
    if (before !== undefined) await notifyMember(transaction, accountId, personId, 'you-are-owner');
  }
  if (role !== 'owner' && before === 'owner')
    await notifyOwnerRemoved(transaction, accountId, personId);
}

async function notifyOwnerRemoved(
  transaction: Kysely,
  accountId: AccountId,
  personId: PersonId,
): Promise<void> {
  await notifyOwners(transaction, accountId, 'owner-removed', personId);
  await notifyMember(transaction, accountId, personId, 'you-are-no-owner');
}

/** Ends a membership. Notifies all nodes at commit, and the owners if it was an owner's. */
export async function removeMembership(
  transaction: Kysely,
  accountId: AccountId,
  personId: PersonId,
): Promise<void> {
  const rows = await allRows<{ role: Role }>(transaction)`
    delete from membership where account_id = ${accountId} and person_id = ${personId} returning role`;
  await announceChange(transaction, personTopic, personId);
  if (rows[0]?.role === 'owner') await notifyOwnerRemoved(transaction, accountId, personId);
}
