import { sql } from 'kysely';
import type { Database } from '../foundation/database/open-database.ts';
import type { PersonId } from '../foundation/ids.ts';

/** Lifetime of a password link. */
const passwordLinkMinutes = 30;
/** Minutes between two links for one person, however often they are requested. */
const resendIntervalMinutes = 2;

/** The person that a link belongs to. */
export interface LinkedPerson {
  readonly email: string;
  readonly name: string;
}

/** Password links by the hash of their token. */
export class PasswordLinkStore {
  readonly #database: Pick<Database, 'kysely'>;

  /** @param database or a transaction */
  constructor(database: Pick<Database, 'kysely'>) {
    this.#database = database;
  }

  /** @returns false if the person got a link a moment ago; nothing is stored then */
  async create(
    transaction: Database['kysely'],
    personId: PersonId,
    hash: Buffer,
  ): Promise<boolean> {
    // Serializes concurrent requests, so that each sees the links of the others.
    await sql`select from person where id = ${personId} for no key update`.execute(transaction);
    const { rows } = await sql`
      with moment as (
        select now() + ${passwordLinkMinutes} * interval '1 minute' as ends)
      insert into password_reset (hash, person_id, expires_at)
      select ${hash}, ${personId}, ends from moment
      where not exists (
        select from password_reset
        where person_id = ${personId} and expires_at > ends - ${resendIntervalMinutes} * interval '1 minute')
      returning 1`.execute(transaction);
    return rows.length === 1;
  }

  /** Whose password a link can still set. */
  async find(hash: Buffer): Promise<LinkedPerson | undefined> {
    const { rows } = await sql<LinkedPerson>`
      select p.email, p.name from password_reset r join person p on p.id = r.person_id
      where r.hash = ${hash} and r.expires_at > now()`.execute(this.#database.kysely);
    return rows[0];
  }

  /** Consumes a link and all others of its person; of two concurrent uses, one gets the person. */
  async consume(transaction: Database['kysely'], hash: Buffer): Promise<PersonId | undefined> {
    const { rows } = await sql<{ person_id: PersonId }>`
      with spent as (
        delete from password_reset
        where hash = ${hash} and expires_at > now()
        returning person_id),
      others as (delete from password_reset using spent where password_reset.person_id = spent.person_id)
      select person_id from spent`.execute(transaction);
    return rows[0]?.person_id;
  }
}
