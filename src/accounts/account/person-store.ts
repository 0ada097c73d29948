import { sql } from 'kysely';
import { announceChange } from '../../base/database/announce.ts';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, firstRow, hasRow, run, valuesOf } from '../../base/database/statements.ts';
import { comparableAddress } from '../../base/values/email-address.ts';
import { newPersonId, type PersonId } from '../../base/values/ids.ts';
import { notifyOperators, notifyPerson } from '../notices/security-notice-store.ts';
import type { Locale } from '../notices/system-mail.ts';
import type { Person } from './account.ts';
import { defaultFormats, isPersonFormats, type PersonFormats } from './person-formats.ts';

/** Notification topic for people and their memberships; the key is the person id. */
export const personTopic = 'person';

/** A person with the data that the password grant needs. */
export interface PersonWithPassword extends Person {
  /** argon2id in its encoded form; undefined if the person has no password. */
  readonly passwordHash: string | undefined;
}

const columns = sql`id, email, name, disabled_at is not null as disabled`;

/** The person with this id, or undefined. */
export function readPerson(kysely: Kysely, personId: PersonId): Promise<Person | undefined> {
  return firstRow<Person>(kysely)`select ${columns} from person where id = ${personId}`;
}

/**
 * The email addresses of people, by ID. Statements on an account's data store only IDs of people, who may be in another
 * database.
 */
export async function readEmails(
  kysely: Kysely,
  personIds: readonly (PersonId | null)[],
): Promise<ReadonlyMap<PersonId, string>> {
  const ids = [...new Set(personIds)].filter((id) => id !== null);
  if (ids.length === 0) return new Map();
  const rows = await allRows<{ id: PersonId; email: string }>(kysely)`
    select id, email from person where id = any (${ids}::uuid[])`;
  return new Map(rows.map(({ id, email }) => [id, email]));
}

/** The person with this email address, in any spelling, or undefined. */
export async function findPersonByEmail(
  kysely: Kysely,
  email: string,
): Promise<PersonWithPassword | undefined> {
  const rows = await allRows<Person & { passwordHash: string | null }>(kysely)`
    select ${columns}, password_hash as "passwordHash" from person where email = ${comparableAddress(email)}`;
  return rows[0] && { ...rows[0], passwordHash: rows[0].passwordHash ?? undefined };
}

/** Creates a person, with a new ID by default. */
export async function createPerson(
  transaction: Kysely,
  person: {
    readonly id?: PersonId;
    readonly email: string;
    readonly name: string;
    readonly passwordHash: string | undefined;
  },
): Promise<Person> {
  const id = person.id ?? newPersonId();
  const email = comparableAddress(person.email);
  await transaction
    .insertInto('person')
    .values({ id, email, name: person.name, password_hash: person.passwordHash ?? null })
    .execute();
  return { id, email, name: person.name, disabled: false };
}

/** Renames a person and notifies all nodes at commit. */
export async function renamePerson(
  transaction: Kysely,
  personId: PersonId,
  name: string,
): Promise<void> {
  await transaction.updateTable('person').set({ name }).where('id', '=', personId).execute();
  await announceChange(transaction, personTopic, personId);
}

/** Replaces the hash of an unchanged password. */
export function renewPasswordHash(
  kysely: Kysely,
  { id, passwordHash }: Pick<PersonWithPassword, 'id' | 'passwordHash'>,
  renewed: string,
): Promise<boolean> {
  return hasRow(kysely)`
    update person set password_hash = ${renewed}
    where id = ${id} and password_hash = ${passwordHash ?? ''} returning 1`;
}

/**
 * Sets a person's password and notifies all nodes at commit. The caller must revoke the person's tokens
 * (`session/revoke-tokens-store.ts`) in the same transaction.
 */
export async function setPasswordHash(
  transaction: Kysely,
  personId: PersonId,
  passwordHash: string,
): Promise<void> {
  await run(transaction)`update person set password_hash = ${passwordHash} where id = ${personId}`;
  await announceChange(transaction, personTopic, personId);
}

/**
 * Disables or enables a person and notifies all nodes at commit. As for a password, the caller must revoke the person's
 * tokens.
 */
export async function setPersonDisabled(
  transaction: Kysely,
  personId: PersonId,
  disabled: boolean,
): Promise<void> {
  await run(transaction)`
    update person set disabled_at = case when ${disabled} then coalesce(disabled_at, now()) end
    where id = ${personId}`;
  await announceChange(transaction, personTopic, personId);
}

/** Grants or revokes the operator role. Notifies all nodes at commit, and the operators if there is a new one. */
export async function setOperator(
  transaction: Kysely,
  personId: PersonId,
  operator: boolean,
): Promise<void> {
  const rows = await allRows(transaction)`
    update person set operator = ${operator} where id = ${personId} and operator <> ${operator} returning 1`;
  await announceChange(transaction, personTopic, personId);
  if (!operator || rows.length === 0) return;
  await notifyOperators(transaction, personId);
  // Providers of accounts don't sign in operators.
  const ended = await allRows(transaction)`
    delete from provider_identity where person_id = ${personId} and provider_account is not null returning 1`;
  if (ended.length > 0) await notifyPerson(transaction, personId, 'provider-disconnected');
}

/** Records that a person opened a link sent to their address, which proves that it is theirs (ASVS 2.5.1). */
export async function markEmailVerified(transaction: Kysely, personId: PersonId): Promise<void> {
  await run(transaction)`
    update person set proven_at = coalesce(proven_at, now()) where id = ${personId}`;
}

/** The language of mail to a person; undefined if none was chosen. */
export async function readLocale(kysely: Kysely, personId: PersonId): Promise<Locale | undefined> {
  const rows = await allRows<{ locale: Locale | null }>(kysely)`
    select locale from person where id = ${personId}`;
  return rows[0]?.locale ?? undefined;
}

/** @param onlyIfUnset keeps a language chosen earlier */
export async function saveLocale(
  kysely: Kysely,
  personId: PersonId,
  locale: Locale,
  onlyIfUnset = false,
): Promise<void> {
  await run(kysely)`
    update person set locale = ${locale}
    where id = ${personId} and (locale is null or not ${onlyIfUnset}::boolean)`;
}

/** How a person reads dates and numbers. */
export async function readFormats(kysely: Kysely, personId: PersonId): Promise<PersonFormats> {
  const rows = await allRows<{ formats: string | null }>(kysely)`
    select formats from person where id = ${personId}`;
  const formats = rows[0]?.formats ?? undefined;
  return isPersonFormats(formats) ? formats : defaultFormats;
}

export async function saveFormats(
  kysely: Kysely,
  personId: PersonId,
  formats: PersonFormats,
): Promise<void> {
  await kysely.updateTable('person').set({ formats }).where('id', '=', personId).execute();
}

/** Whether a person is an operator of the installation, enabled or not. */
export function hasOperatorRole(kysely: Kysely, personId: PersonId): Promise<boolean> {
  return hasRow(kysely)`select from person where id = ${personId} and operator`;
}

/** The email addresses of all enabled operators. */
export function listOperators(kysely: Kysely): Promise<string[]> {
  return valuesOf<string>(kysely)`
    select email from person where operator and disabled_at is null order by email`;
}
