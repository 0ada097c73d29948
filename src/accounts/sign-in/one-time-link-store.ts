import { sql } from 'kysely';
import type { Database } from '../../base/database/open-database.ts';
import type { PersonId } from '../../base/values/ids.ts';

type Kysely = Database['kysely'];

/** What a one-time link opens: the form for the first owner, or the local inbox. */
export type OneTimeLinkPurpose = 'set-up' | 'inbox';

/** Stores the hash of a new code and invalidates the previous one for the same purpose. */
export async function saveOneTimeLink(
  kysely: Kysely,
  purpose: OneTimeLinkPurpose,
  codeHash: Buffer,
  seconds: number,
): Promise<void> {
  await sql`
    insert into one_time_link (purpose, code_hash, expires_at)
    values (${purpose}, ${codeHash}, now() + ${seconds} * interval '1 s')
    on conflict (purpose) do update set code_hash = excluded.code_hash, expires_at = excluded.expires_at`.execute(
    kysely,
  );
}

/** Whether a code is current and has not expired. */
export async function isValidOneTimeLink(
  kysely: Kysely,
  purpose: OneTimeLinkPurpose,
  codeHash: Buffer,
): Promise<boolean> {
  const { rows } = await sql`
    select from one_time_link
    where purpose = ${purpose} and code_hash = ${codeHash}
      and expires_at > now()`.execute(kysely);
  return rows.length === 1;
}

/** Consumes a code. @returns false if it is unknown, used or expired */
export async function consumeOneTimeLink(
  kysely: Kysely,
  purpose: OneTimeLinkPurpose,
  codeHash: Buffer,
): Promise<boolean> {
  const { rows } = await sql`
    delete from one_time_link
    where purpose = ${purpose} and code_hash = ${codeHash}
      and expires_at > now()
    returning 1`.execute(kysely);
  return rows.length === 1;
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
  await sql`select from person where id = ${personId} for no key update`.execute(transaction);
  const { rows } = await sql`
    select from password_reset
    where person_id = ${personId} and created_at > now() - ${resendIntervalMinutes} * interval '1 minute'
    limit 1`.execute(transaction);
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
  await sql`
    insert into password_reset (hash, person_id, expires_at)
    values (${hash}, ${personId}, now() + ${minutes} * interval '1 minute')`.execute(transaction);
}

/** Whose password a link can still set. */
export async function findPasswordLink(
  kysely: Kysely,
  hash: Buffer,
): Promise<LinkedPerson | undefined> {
  const { rows } = await sql<LinkedPerson>`
    select p.email, p.name from password_reset r join person p on p.id = r.person_id
    where r.hash = ${hash} and r.expires_at > now()`.execute(kysely);
  return rows[0];
}

/** Consumes a password link and all others of its person; of two concurrent uses, one gets the person. */
export async function consumePasswordLink(
  transaction: Kysely,
  hash: Buffer,
): Promise<PersonId | undefined> {
  const { rows } = await sql<{ person_id: PersonId }>`
    with spent as (
      delete from password_reset
      where hash = ${hash} and expires_at > now()
      returning person_id),
    others as (delete from password_reset using spent where password_reset.person_id = spent.person_id)
    select person_id from spent`.execute(transaction);
  return rows[0]?.person_id;
}
