import { verify } from '@node-rs/argon2';
import { hashPassword } from '../account/hash-password.ts';
import {
  type Member,
  readMembers,
  removeMembership,
  saveMembership,
} from '../account/membership-store.ts';
import {
  createPerson,
  findPersonByEmail,
  hasOperatorRole,
  type PersonWithPassword,
  renamePerson,
  setOperator,
} from '../account/person-store.ts';
import { newPersonId, type PersonId } from '../foundation/ids.ts';
import { replacePersonPassword } from '../session/change-password.ts';
import type { Manifest, ManifestAccount, ManifestUser } from './manifest.ts';
import {
  type ChangeAction,
  type PlanContext,
  type PlannedChange,
  toRemove,
} from './manifest-change.ts';

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

/** A person in a manifest, across all accounts. */
interface PlannedPerson {
  readonly id: PersonId;
  readonly action: Exclude<ChangeAction, 'removed'>;
  readonly notes: readonly string[];
  /** Idempotent. */
  readonly run: () => Promise<void>;
}

/** The people in a manifest, by address. */
type PlannedPeople = ReadonlyMap<string, PlannedPerson>;

/** Plans the changes of people; memberships are planned with the accounts. */
export async function planPeople(manifest: Manifest, context: PlanContext): Promise<PlannedPeople> {
  const people = new Map<string, PlannedPerson>();
  const users = manifest.accounts.flatMap((account) => account.users);
  for (const { email } of users) {
    if (people.has(email)) continue;
    const same = users.filter((user) => user.email === email);
    const name = same.find((user) => user.name !== undefined)?.name;
    const password = same.find((user) => user.password !== undefined)?.password;
    const operator = same.find((user) => user.operator !== undefined)?.operator;
    people.set(email, await planPerson({ email, name, password, operator }, context));
  }
  return people;
}

/** A person, merged from all accounts of a manifest. */
interface DesiredPerson {
  readonly email: string;
  readonly name: string | undefined;
  readonly password: string | undefined;
  readonly operator: boolean | undefined;
}

async function planPerson(desired: DesiredPerson, context: PlanContext): Promise<PlannedPerson> {
  const existing = await findPersonByEmail(context.transaction, desired.email);
  const steps =
    existing === undefined
      ? planNew(desired, context)
      : await planExisting(existing, desired, context);
  let done = false;
  return {
    ...steps,
    run: async () => {
      if (done) return;
      done = true;
      await steps.run();
    },
  };
}

function planNew(
  { email, name, password, operator }: DesiredPerson,
  { transaction }: PlanContext,
): PlannedPerson {
  const id = newPersonId();
  return {
    id,
    action: 'created',
    notes: [
      ...(password === undefined ? ['without a password'] : []),
      ...(operator === true ? ['operator'] : []),
    ],
    run: async () => {
      const passwordHash = password === undefined ? undefined : await hashPassword(password);
      await createPerson(transaction, { id, email, name: name ?? email, passwordHash });
      if (operator === true) await setOperator(transaction, id, true);
    },
  };
}

async function planExisting(
  person: PersonWithPassword,
  { name, password, operator }: DesiredPerson,
  context: PlanContext,
): Promise<PlannedPerson> {
  const { transaction } = context;
  const operatorChanged =
    operator !== undefined && operator !== (await hasOperatorRole(transaction, person.id));
  const renamed = name !== undefined && name !== person.name;
  const passwords = await comparePassword(person, password);
  const first = passwords === 'first';
  return {
    id: person.id,
    action: renamed || first || operatorChanged ? 'changed' : 'unchanged',
    notes: [
      ...(first ? ['first password'] : []),
      ...(passwords === 'other'
        ? [
            'already has a different password, which stays unchanged; use `user password-link` to change it',
          ]
        : []),
      ...(operatorChanged ? [operator ? 'operator' : 'no longer operator'] : []),
    ],
    run: async () => {
      if (operatorChanged) await setOperator(transaction, person.id, operator);
      if (renamed) await renamePerson(transaction, person.id, name);
      if (!first || password === undefined) return;
      await replacePersonPassword(transaction, person.id, await hashPassword(password), undefined);
    },
  };
}

/** A manifest only sets first passwords; it never changes an existing one. */
async function comparePassword(
  person: PersonWithPassword,
  password: string | undefined,
): Promise<'first' | 'same' | 'other' | undefined> {
  if (password === undefined) return undefined;
  if (person.passwordHash === undefined) return 'first';
  return (await verify(person.passwordHash, password)) ? 'same' : 'other';
}
