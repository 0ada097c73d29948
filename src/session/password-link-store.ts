import { sql } from 'kysely';
import type { Database } from '../foundation/database/open-database.ts';
import type { PersonId } from '../foundation/ids.ts';

/** Minutes that a link for setting a password lives. */
export const passwordLinkMinutes = 30;
/** Minutes that pass between two links for one person, however often somebody asks. */
const resendIntervalMinutes = 2;

/** Links by which people set a password, by the hash of their token. */
export class PasswordLinkStore {
  readonly #database: Pick<Database, 'kysely'>;

  /** @param database or a transaction in its place */
  constructor(database: Pick<Database, 'kysely'>) {
    this.#database = database;
  }

  /** @returns false where the person got a link a moment ago; then nothing is stored */
  async create(
    transaction: Database['kysely'],
    personId: PersonId,
    hash: Buffer,
  ): Promise<boolean> {
    // Requests that come together see each other's links only one after the other.
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

  /** True for a link that can still be used. */
  async isLive(hash: Buffer): Promise<boolean> {
    const { rows } = await sql`
      select from password_reset
      where hash = ${hash} and expires_at > now()`.execute(this.#database.kysely);
    return rows.length === 1;
  }

  /** Spends a link, and every other one of its person; of two uses at the same instant one gets the person. */
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
