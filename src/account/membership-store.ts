import { sql } from 'kysely';
import { announceChange } from '../foundation/database/announce.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId, PersonId } from '../foundation/ids.ts';
import { notifyMember, notifyOwners } from '../outbox/security-notice-store.ts';
import type { Membership, MembershipGranter, Role } from './account.ts';
import { personTopic } from './person-store.ts';
import { onlyAccount, type ReachedPerson } from './reach.ts';

type Kysely = Database['kysely'];

/** A member of an account; manifests identify people by email address. */
export interface Member {
  readonly personId: PersonId;
  readonly email: string;
  readonly role: Role;
  /** Undefined: people did. */
  readonly grantedBy: MembershipGranter | undefined;
}

/** The memberships of a person that are reached, oldest first. */
export async function readMemberships(
  kysely: Kysely,
  { personId, reach }: ReachedPerson,
): Promise<readonly Membership[]> {
  const rows = await kysely
    .selectFrom('membership')
    .select(['account_id', 'role', 'granted_by'])
    .where('person_id', '=', personId)
    .$if(reach !== 'all', (query) => query.where('account_id', '=', onlyAccount(reach)))
    .orderBy('created_at')
    .orderBy('account_id')
    .execute();
  return rows.map((row) => ({
    accountId: row.account_id as AccountId,
    role: row.role as Role,
    grantedBy: (row.granted_by ?? undefined) as MembershipGranter,
  }));
}

/**
 * Leaves to people the memberships that an account's provider granted, so that they don't end with it.
 * @returns whose
 */
export async function keepMembershipsOfProvider(
  transaction: Kysely,
  accountId: AccountId,
): Promise<PersonId[]> {
  const kept = await transaction
    .updateTable('membership')
    .set({ granted_by: null })
    .where('account_id', '=', accountId)
    .where('granted_by', '=', 'account')
    .returning('person_id')
    .execute();
  for (const { person_id } of kept) await announceChange(transaction, personTopic, person_id);
  return kept.map(({ person_id }) => person_id as PersonId);
}

/** Whether a person has a role in this account, but neither in another one nor in the installation. */
export async function belongsOnlyTo(
  kysely: Kysely,
  personId: PersonId,
  accountId: AccountId,
): Promise<boolean> {
  const row = await kysely
    .selectFrom('person')
    .innerJoin('membership', 'membership.person_id', 'person.id')
    .select(({ fn, eb }) =>
      fn.agg<boolean>('bool_and', [eb('account_id', '=', accountId)]).as('only'),
    )
    .where('person.id', '=', personId)
    .where('person.operator', '=', false)
    .executeTakeFirst();
  return row?.only === true;
}

/** The members of an account, ordered by email address. */
export async function readMembers(kysely: Kysely, accountId: AccountId): Promise<Member[]> {
  const rows = await kysely
    .selectFrom('membership')
    .innerJoin('person', 'person.id', 'membership.person_id')
    .select(['membership.person_id', 'person.email', 'membership.role', 'membership.granted_by'])
    .where('membership.account_id', '=', accountId)
    .orderBy('person.email')
    .execute();
  return rows.map((row) => ({
    personId: row.person_id as PersonId,
    email: row.email,
    role: row.role as Role,
    grantedBy: (row.granted_by ?? undefined) as MembershipGranter | undefined,
  }));
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
  const { accountId, personId, role, grantedBy: granted_by = null } = membership;
  const before = await readRole(transaction, accountId, personId);
  await transaction
    .insertInto('membership')
    .values({
      account_id: accountId,
      person_id: personId,
      role,
      granted_by,
      // Memberships created in one transaction keep their order: the first one is a password token's account.
      created_at: sql<Date>`clock_timestamp()`,
    })
    .onConflict((conflict) =>
      conflict.columns(['account_id', 'person_id']).doUpdateSet({ role, granted_by }),
    )
    .execute();
  await announceChange(transaction, personTopic, personId);
  if (role === 'owner' && before !== 'owner') {
    await notifyOwners(transaction, accountId, 'owner-added', personId);
    // New members were invited or added by an owner or operator, so they need no notice.
    if (before !== undefined) await notifyMember(transaction, accountId, personId, 'you-are-owner');
  }
  if (role !== 'owner' && before === 'owner')
    await notifyOwnerRemoved(transaction, accountId, personId);
}

async function readRole(
  transaction: Kysely,
  accountId: AccountId,
  personId: PersonId,
): Promise<string | undefined> {
  const row = await transaction
    .selectFrom('membership')
    .select('role')
    .where('account_id', '=', accountId)
    .where('person_id', '=', personId)
    .executeTakeFirst();
  return row?.role;
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
  const removed = await transaction
    .deleteFrom('membership')
    .where('account_id', '=', accountId)
    .where('person_id', '=', personId)
    .returning('role')
    .executeTakeFirst();
  await announceChange(transaction, personTopic, personId);
  if (removed?.role === 'owner') await notifyOwnerRemoved(transaction, accountId, personId);
}
