import {
  type Member,
  readMembers,
  removeMembership,
  saveMembership,
} from '../account/membership-store.ts';
import type { PersonId } from '../foundation/ids.ts';
import type { ManifestAccount, ManifestUser } from './manifest.ts';
import { type PlanContext, type PlannedChange, toRemove } from './manifest-change.ts';
import type { PlannedPeople, PlannedPerson } from './plan-people.ts';

/** The members of an account once the manifest is applied. */
export type ResultingMembers = ReadonlyMap<string, PersonId>;

/** Plans the changes of an account's users. */
export async function planUsers(
  account: ManifestAccount,
  people: PlannedPeople,
  context: PlanContext,
): Promise<{ readonly changes: PlannedChange[]; readonly members: ResultingMembers }> {
  const existing = await readMembers(context.transaction, account.id);
  const after = new Map(existing.map((member) => [member.email, member.personId]));
  const changes: PlannedChange[] = [];
  for (const user of account.users) {
    const person = people.get(user.email);
    if (person === undefined) throw new Error('the user has no plan');
    after.set(user.email, person.id);
    const member = existing.find(({ email }) => email === user.email);
    changes.push(planUser(account, user, person, member, context));
  }
  const named = new Set<string>(account.users.map(({ email }) => email));
  for (const { email, personId } of toRemove(context, account, 'users', existing, ({ email }) =>
    named.has(email),
  )) {
    after.delete(email);
    changes.push({
      account: account.id,
      kind: 'user',
      id: email,
      action: 'removed',
      path: undefined,
      notes: [],
      run: () => removeMembership(context.transaction, account.id, personId),
    });
  }
  return { changes, members: after };
}

function planUser(
  account: ManifestAccount,
  user: ManifestUser,
  person: PlannedPerson,
  member: Member | undefined,
  { transaction }: PlanContext,
): PlannedChange {
  // A role that people set counts for every sign-in, unlike one that a provider granted.
  const isSet = member?.role === user.role && member.grantedBy === undefined;
  const changes = !isSet || person.action !== 'unchanged';
  return {
    account: account.id,
    kind: 'user',
    id: user.email,
    action: member === undefined ? 'created' : changes ? 'changed' : 'unchanged',
    path: user.path,
    notes: person.notes,
    run: async () => {
      await person.run();
      if (isSet) return;
      const { id: accountId } = account;
      await saveMembership(transaction, { accountId, personId: person.id, role: user.role });
    },
  };
}
