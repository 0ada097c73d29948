import { sql } from 'kysely';
import type { Database } from '../foundation/database/open-database.ts';
import type { PersonId } from '../foundation/ids.ts';

/** A person's second factor as stored: its secret sealed. */
export interface StoredFactor {
  readonly secret: Buffer;
  readonly confirmed: boolean;
}

/** Second factors in the database. */
export class SecondFactorStore {
  readonly #database: Pick<Database, 'kysely'>;

  /** @param database or a transaction in its place */
  constructor(database: Pick<Database, 'kysely'>) {
    this.#database = database;
  }

  async find(personId: PersonId): Promise<StoredFactor | undefined> {
    const { rows } = await sql<StoredFactor>`
      select secret, confirmed_at is not null as confirmed from second_factor where person_id = ${personId}`.execute(
      this.#database.kysely,
    );
    return rows[0];
  }

  /** Begins an enrolment; a confirmed factor stays as it is. */
  async begin(personId: PersonId, secret: Buffer): Promise<void> {
    await sql`
      insert into second_factor as factor (person_id, secret) values (${personId}, ${secret})
      on conflict (person_id) do update set secret = excluded.secret, last_step = 0
      where factor.confirmed_at is null`.execute(this.#database.kysely);
  }

  /**
   * Spends a time step, and confirms a factor that was not yet: a code, seen by somebody, is worth nothing a second
   * time (RFC 6238 section 5.2).
   * @returns false where this step or a later one was spent before
   */
  async spendStep(personId: PersonId, step: number): Promise<boolean> {
    const { rows } = await sql`
      update second_factor set last_step = ${step}, confirmed_at = coalesce(confirmed_at, now())
      where person_id = ${personId} and last_step < ${step} returning 1`.execute(
      this.#database.kysely,
    );
    return rows.length === 1;
  }

  async remove(personId: PersonId): Promise<void> {
    await sql`delete from second_factor where person_id = ${personId}`.execute(
      this.#database.kysely,
    );
  }
}
