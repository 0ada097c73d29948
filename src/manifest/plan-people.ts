import { verify } from '@node-rs/argon2';
import { hashPassword } from '../account/hash-password.ts';
import {
  createPerson,
  findPersonByEmail,
  type PersonWithPassword,
  readOperator,
  renamePerson,
  setOperator,
} from '../account/person-store.ts';
import { newPersonId, type PersonId } from '../foundation/ids.ts';
import { replacePassword } from '../session/change-password.ts';
import type { Manifest } from './manifest.ts';
import type { ChangeAction, PlanContext } from './manifest-change.ts';

/** A person whom a manifest names, in however many accounts. */
export interface PlannedPerson {
  readonly id: PersonId;
  readonly action: Exclude<ChangeAction, 'removed'>;
  readonly notes: readonly string[];
  /** Does nothing the second time. */
  readonly run: () => Promise<void>;
}

/** The people whom a manifest names, by their addresses. */
export type PlannedPeople = ReadonlyMap<string, PlannedPerson>;

/** Finds out what becomes of the people themselves; their memberships belong to the accounts. */
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

/** What a manifest says of one person, in all accounts together. */
interface WantedPerson {
  readonly email: string;
  readonly name: string | undefined;
  readonly password: string | undefined;
  readonly operator: boolean | undefined;
}

async function planPerson(wanted: WantedPerson, context: PlanContext): Promise<PlannedPerson> {
  const existing = await findPersonByEmail(context.transaction, wanted.email);
  const steps =
    existing === undefined
      ? planNew(wanted, context)
      : await planExisting(existing, wanted, context);
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
  { email, name, password, operator }: WantedPerson,
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
  { name, password, operator }: WantedPerson,
  context: PlanContext,
): Promise<PlannedPerson> {
  const { transaction } = context;
  const ranked =
    operator !== undefined && operator !== (await readOperator(transaction, person.id));
  const renamed = name !== undefined && name !== person.name;
  const reset = await isReset(person, password, context);
  return {
    id: person.id,
    action: renamed || reset || ranked ? 'changed' : 'unchanged',
    notes: [
      ...(reset ? ['new password'] : []),
      ...(ranked ? [operator ? 'operator' : 'no operator any more'] : []),
    ],
    run: async () => {
      if (ranked) await setOperator(transaction, person.id, operator);
      if (renamed) await renamePerson(transaction, person.id, name);
      if (!reset || password === undefined) return;
      await replacePassword(transaction, person.id, await hashPassword(password));
    },
  };
}

/** The password that a person has already is no reset, and ends no token. */
async function isReset(
  person: PersonWithPassword,
  password: string | undefined,
  { options }: PlanContext,
): Promise<boolean> {
  if (options.resetPasswords !== true || password === undefined) return false;
  return person.passwordHash === undefined || !(await verify(person.passwordHash, password));
}
