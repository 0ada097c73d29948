import { verify } from '@node-rs/argon2';
import { hashPassword } from '../../accounts/account/hash-password.ts';
import {
  type Member,
  readMembers,
  removeMembership,
  saveMembership,
} from '../../accounts/account/membership-store.ts';
import {
  createPerson,
  findPersonByEmail,
  hasOperatorRole,
  type PersonWithPassword,
  renamePerson,
  setOperator,
} from '../../accounts/account/person-store.ts';
import { replacePersonPassword } from '../../accounts/sign-in/change-password.ts';
import { newPersonId, type PersonId } from '../../base/values/ids.ts';
import type { ManifestUser } from './manifest.ts';
import type { ChangeAction, PlanContext } from './manifest-change.ts';
import type { ManifestPath } from './manifest-problems.ts';
import type { Section } from './manifest-resource.ts';
import type { RawUser } from './manifest-schema.ts';
import {
  type BuildContext,
  checkPassword,
  checkText,
  parseManifestAddress,
} from './read-values.ts';

/**
 * Users of accounts.
 * @param people the people of the manifest, who can be users of several accounts
 */
export function userSection(people: PlannedPeople): Section<RawUser, ManifestUser, Member> {
  return {
    kind: 'user',
    name: 'users',
    key: 'email',
    build: buildUser,
    read: readMembers,
    plan({ email, role }, member, { transaction, accountId }) {
      const person = requirePlan(people, email);
      // A role that people set counts for every sign-in, unlike one that a provider granted.
      const isSet = member?.role === role && member.grantedBy === undefined;
      const changes = !isSet || person.action !== 'unchanged';
      return {
        action: member === undefined ? 'created' : changes ? 'changed' : 'unchanged',
        notes: person.notes,
        run: async () => {
          await person.run();
          if (isSet) return;
          await saveMembership(transaction, { accountId, personId: person.id, role });
        },
      };
    },
    remove: (transaction, accountId, { personId }) =>
      removeMembership(transaction, accountId, personId),
  };
}

/** Converts an entry of `users`. */
export function buildUser(
  raw: RawUser,
  path: ManifestPath,
  { problems }: BuildContext,
): ManifestUser {
  const email = parseManifestAddress(raw.email, [...path, 'email'], problems);
  checkText(raw.name, [...path, 'name'], problems);
  checkPassword(raw.password, [...path, 'password'], problems);
  return { ...raw, path, email };
}

function requirePlan(people: PlannedPeople, email: string): PlannedPerson {
  const person = people.get(email);
  if (person === undefined) throw new Error('the user has no plan');
  return person;
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
export type PlannedPeople = ReadonlyMap<string, PlannedPerson>;

/** Plans the changes of people; memberships are planned with the accounts. */
export async function planPeople(
  users: readonly ManifestUser[],
  context: PlanContext,
): Promise<PlannedPeople> {
  const people = new Map<string, PlannedPerson>();
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
