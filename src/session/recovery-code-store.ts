import { sql } from 'kysely';
import { hasSecondFactor } from '../account/second-factor-sql.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { PersonId } from '../foundation/ids.ts';
import { notifyPerson } from '../outbox/security-notice-store.ts';

/** Recovery codes in the database, by hash. */
export class RecoveryCodeStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Replaces all of the person's codes.
   * @returns false if the person has no second factor; nothing is stored then
   */
  async replace(personId: PersonId, hashes: readonly Buffer[]): Promise<boolean> {
    return this.#database.kysely.transaction().execute(async (transaction) => {
      await lockPerson(transaction, personId);
      const { rows } = await sql`select where ${hasSecondFactor(sql`${personId}::uuid`)}`.execute(
        transaction,
      );
      if (rows.length === 0) return false;
      await sql`delete from recovery_code where person_id = ${personId}`.execute(transaction);
      await sql`
        insert into recovery_code (person_id, hash)
        select ${personId}, hash from unnest(${hashes}::bytea[]) hash`.execute(transaction);
      await notifyPerson(transaction, personId, 'recovery-codes-made');
      return true;
    });
  }

  /** Consumes a code, which may be stored under any of the hashes; of two concurrent uses, one gets true. */
  async consume(personId: PersonId, hashes: readonly Buffer[]): Promise<boolean> {
    const { rows } = await sql`
      delete from recovery_code where person_id = ${personId} and hash = any (${hashes}::bytea[]) returning 1`.execute(
      this.#database.kysely,
    );
    return rows.length === 1;
  }

  async count(personId: PersonId): Promise<number> {
    const { rows } = await sql<{ count: number }>`
      select count(*)::integer as count from recovery_code where person_id = ${personId}`.execute(
      this.#database.kysely,
    );
    return rows[0]?.count ?? 0;
  }
}

/** Removes a person's recovery codes once there is no second factor that they could replace. */
export async function removeUnusedRecoveryCodes(
  transaction: Database['kysely'],
  personId: PersonId,
): Promise<void> {
  await lockPerson(transaction, personId);
  await sql`
    delete from recovery_code
    where person_id = ${personId} and not ${hasSecondFactor(sql`${personId}::uuid`)}`.execute(
    transaction,
  );
}

/** Serializes new codes with the removal of a second factor. */
async function lockPerson(transaction: Database['kysely'], personId: PersonId): Promise<void> {
  await sql`select from person where id = ${personId} for no key update`.execute(transaction);
}
