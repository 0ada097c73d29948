import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, firstRow, firstValue, hasRow, run } from '../../base/database/statements.ts';
import type { PersonId } from '../../base/values/ids.ts';

/** What a one-time link opens: the form for the first owner, or the local inbox. */
export type OneTimeLinkPurpose = 'set-up' | 'inbox';

/** Stores the hash of a new code and invalidates the previous one for the same purpose. */
export async function saveOneTimeLink(
  kysely: Kysely,
  purpose: OneTimeLinkPurpose,
  codeHash: Buffer,
  seconds: number,
): Promise<void> {
  await run(kysely)`
    insert into one_time_link (purpose, code_hash, expires_at)
    values (${purpose}, ${codeHash}, now() + ${seconds} * interval '1 s')
    on conflict (purpose) do update set code_hash = excluded.code_hash, expires_at = excluded.expires_at`;
}

/** Whether a code is current and has not expired. */
export function isValidOneTimeLink(
  kysely: Kysely,
  purpose: OneTimeLinkPurpose,
  codeHash: Buffer,
): Promise<boolean> {
  return hasRow(kysely)`
    select from one_time_link
    where purpose = ${purpose} and code_hash = ${codeHash}
      and expires_at > now()`;
}

/** Consumes a code. @returns false if it is unknown, used or expired */
export function consumeOneTimeLink(
  kysely: Kysely,
  purpose: OneTimeLinkPurpose,
  codeHash: Buffer,
): Promise<boolean> {
  return hasRow(kysely)`
    delete from one_time_link
    where purpose = ${purpose} and code_hash = ${codeHash}
      and expires_at > now()
    returning 1`;
}

/** Lifetime of a password link, and of the last one that its person gets for now, so that nobody can lock them out by asking. */
const passwordLinkMinutes = 30;
const lastLinkMinutes = 24 * 60;
/** Minutes between two links for one person, however often they are requested. */
const resendIntervalMinutes = 2;

/** The person that a link belongs to. */
export interface LinkedPerson {
  readonly email: string;
  readonly name: string;
}

/** Adds a password link that isn't mailed. @returns false if the person got one a moment ago; nothing is stored then */
export async function createPasswordLink(
  transaction: Kysely,
  personId: PersonId,
  hash: Buffer,
): Promise<boolean> {
  if (!(await lockIfLinkIsDue(transaction, personId))) return false;
  await addPasswordLink(transaction, personId, hash, false);
  return true;
}

/** Serializes the requests of a person. @returns false if they got a link a moment ago */
export async function lockIfLinkIsDue(transaction: Kysely, personId: PersonId): Promise<boolean> {
  await run(transaction)`select from person where id = ${personId} for no key update`;
  const rows = await allRows(transaction)`
    select from password_reset
    where person_id = ${personId} and created_at > now() - ${resendIntervalMinutes} * interval '1 minute'
    limit 1`;
  return rows.length === 0;
}

/** @param isLast for now */
export async function addPasswordLink(
  transaction: Kysely,
  personId: PersonId,
  hash: Buffer,
  isLast: boolean,
): Promise<void> {
  const minutes = isLast ? lastLinkMinutes : passwordLinkMinutes;
  await run(transaction)`
    insert into password_reset (hash, person_id, expires_at)
    values (${hash}, ${personId}, now() + ${minutes} * interval '1 minute')`;
}

/** Whose password a link can still set. */
export function findPasswordLink(kysely: Kysely, hash: Buffer): Promise<LinkedPerson | undefined> {
  return firstRow<LinkedPerson>(kysely)`
    select p.email, p.name from password_reset r join person p on p.id = r.person_id
    where r.hash = ${hash} and r.expires_at > now()`;
}

/** Consumes a password link and all others of its person; of two concurrent uses, one gets the person. */
export function consumePasswordLink(
  transaction: Kysely,
  hash: Buffer,
): Promise<PersonId | undefined> {
  return firstValue<PersonId>(transaction)`
    with spent as (
      delete from password_reset
      where hash = ${hash} and expires_at > now()
      returning person_id),
    others as (delete from password_reset using spent where password_reset.person_id = spent.person_id)
    select person_id from spent`;
}
