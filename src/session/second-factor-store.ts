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

/** A person's authenticator app as stored, with its secret sealed. */
interface StoredFactor {
  readonly secret: Buffer;
  readonly confirmed: boolean;
}

/** Authenticator apps in the database. */
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

  /** Whether the person has any second factor: an authenticator app or a passkey. */
  async hasAny(personId: PersonId): Promise<boolean> {
    const { rows } = await sql`select where ${hasSecondFactor(sql`${personId}::uuid`)}`.execute(
      this.#database.kysely,
    );
    return rows.length === 1;
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
      await removeUnusedRecoveryCodes(transaction, personId);
      if (rows[0]?.confirmed) await notifyPerson(transaction, personId, 'second-factor-removed');
    });
  }

  /**
   * Removes a person's authenticator app, passkeys and recovery codes.
   * @returns false if there was no second factor
   */
  async removeAll(personId: PersonId): Promise<boolean> {
    return this.#inTransaction(async (transaction) => {
      const { rows } = await sql<{ passkeys: number; apps: number }>`
        with passkeys as (delete from passkey where person_id = ${personId} returning 1),
        apps as (
          delete from second_factor where person_id = ${personId}
          returning confirmed_at is not null as confirmed)
        select (select count(*) from passkeys)::integer as passkeys,
          (select count(*) from apps where confirmed)::integer as apps`.execute(transaction);
      const { passkeys = 0, apps = 0 } = rows[0] ?? {};
      await removeUnusedRecoveryCodes(transaction, personId);
      if (apps > 0) await notifyPerson(transaction, personId, 'second-factor-removed');
      if (passkeys > 0) await notifyPerson(transaction, personId, 'passkey-removed');
      return apps + passkeys > 0;
    });
  }

  #inTransaction<Result>(
    work: (transaction: Database['kysely']) => Promise<Result>,
  ): Promise<Result> {
    const { kysely } = this.#database;
    return kysely.isTransaction ? work(kysely) : kysely.transaction().execute(work);
  }
}
