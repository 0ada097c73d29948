import { sql } from 'kysely';
import type { Database } from '../foundation/database/open-database.ts';
import type { PersonId } from '../foundation/ids.ts';
import { notifyPerson } from '../outbox/security-notice-store.ts';

/** A person's second factor as stored, with its secret sealed. */
export interface StoredFactor {
  readonly secret: Buffer;
  readonly confirmed: boolean;
}

/** Second factors in the database. */
export class SecondFactorStore {
  readonly #database: Pick<Database, 'kysely'>;

  /** @param database or a transaction */
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

  /** Starts an enrollment; a confirmed factor is left unchanged. */
  async begin(personId: PersonId, secret: Buffer): Promise<void> {
    await sql`
      insert into second_factor as factor (person_id, secret) values (${personId}, ${secret})
      on conflict (person_id) do update set secret = excluded.secret, last_step = 0
      where factor.confirmed_at is null`.execute(this.#database.kysely);
  }

  /**
   * Consumes a time step, and confirms an unconfirmed factor. A code that someone saw can't be used again (RFC 6238
   * section 5.2).
   * @returns false if this step or a later one was used before
   */
  async consumeStep(personId: PersonId, step: number): Promise<boolean> {
    return this.#inTransaction(async (transaction) => {
      // Locks the row first, so that only one of two first codes confirms.
      const { rows } = await sql<{ fresh: boolean }>`
        with before as (
          select confirmed_at is null as fresh from second_factor where person_id = ${personId} for update)
        update second_factor set last_step = ${step}, confirmed_at = coalesce(confirmed_at, now())
        from before
        where person_id = ${personId} and last_step < ${step} returning before.fresh`.execute(
        transaction,
      );
      if (rows[0]?.fresh) await notifyPerson(transaction, personId, 'second-factor-added');
      return rows.length === 1;
    });
  }

  /** Removes a factor, and notifies the person if it was confirmed. */
  async remove(personId: PersonId): Promise<void> {
    await this.#inTransaction(async (transaction) => {
      const { rows } = await sql<{ confirmed: boolean }>`
        delete from second_factor where person_id = ${personId}
        returning confirmed_at is not null as confirmed`.execute(transaction);
      if (rows[0]?.confirmed) await notifyPerson(transaction, personId, 'second-factor-removed');
    });
  }

  #inTransaction<Result>(
    work: (transaction: Database['kysely']) => Promise<Result>,
  ): Promise<Result> {
    const { kysely } = this.#database;
    return kysely.isTransaction ? work(kysely) : kysely.transaction().execute(work);
  }
}
