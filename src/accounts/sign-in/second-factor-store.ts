import { sql } from 'kysely';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, firstRow, hasRow, run } from '../../base/database/statements.ts';
import type { PersonId } from '../../base/values/ids.ts';
import { hasSecondFactor } from '../account/second-factor-sql.ts';
import { notifyPerson } from '../notices/security-notice-store.ts';

/**
 * Replaces all of the person's recovery codes, which are stored by hash.
 * @returns false if the person has no second factor; nothing is stored then
 */
export async function replaceRecoveryCodes(
  kysely: Kysely,
  personId: PersonId,
  hashes: readonly Buffer[],
): Promise<boolean> {
  return kysely.transaction().execute(async (transaction) => {
    await lockPerson(transaction, personId);
    if (!(await hasAnySecondFactor(transaction, personId))) return false;
    await run(transaction)`delete from recovery_code where person_id = ${personId}`;
    await run(transaction)`
      insert into recovery_code (person_id, hash)
      select ${personId}, hash from unnest(${hashes}::bytea[]) hash`;
    await notifyPerson(transaction, personId, 'recovery-codes-made');
    return true;
  });
}

/** Consumes a recovery code, which may be stored under any of the hashes; of two concurrent uses, one gets true. */
export function consumeRecoveryCode(
  kysely: Kysely,
  personId: PersonId,
  hashes: readonly Buffer[],
): Promise<boolean> {
  return hasRow(kysely)`
    delete from recovery_code where person_id = ${personId} and hash = any (${hashes}::bytea[]) returning 1`;
}

/** The number of recovery codes left. */
export async function countRecoveryCodes(kysely: Kysely, personId: PersonId): Promise<number> {
  const rows = await allRows<{ count: number }>(kysely)`
    select count(*)::integer as count from recovery_code where person_id = ${personId}`;
  return rows[0]?.count ?? 0;
}

/** Removes a person's recovery codes once there is no second factor that they could replace. */
export async function removeUnusedRecoveryCodes(
  transaction: Kysely,
  personId: PersonId,
): Promise<void> {
  await lockPerson(transaction, personId);
  await run(transaction)`
    delete from recovery_code
    where person_id = ${personId} and not ${hasSecondFactor(sql`${personId}::uuid`)}`;
}

/** Serializes new codes with the removal of a second factor. */
async function lockPerson(transaction: Kysely, personId: PersonId): Promise<void> {
  await run(transaction)`select from person where id = ${personId} for no key update`;
}

/** A person's authenticator app as stored, with its secret sealed. */
interface StoredFactor {
  readonly secret: Buffer;
  readonly confirmed: boolean;
}

export function findAuthenticator(
  kysely: Kysely,
  personId: PersonId,
): Promise<StoredFactor | undefined> {
  return firstRow<StoredFactor>(kysely)`
    select secret, confirmed_at is not null as confirmed from second_factor where person_id = ${personId}`;
}

/** Whether the person has any second factor: a confirmed authenticator app or a passkey. */
export function hasAnySecondFactor(kysely: Kysely, personId: PersonId): Promise<boolean> {
  return hasRow(kysely)`select where ${hasSecondFactor(sql`${personId}::uuid`)}`;
}

/** Starts the enrollment of an authenticator app; a confirmed one is left unchanged. */
export async function beginEnrollment(
  kysely: Kysely,
  personId: PersonId,
  secret: Buffer,
): Promise<void> {
  await run(kysely)`
    insert into second_factor as factor (person_id, secret) values (${personId}, ${secret})
    on conflict (person_id) do update set secret = excluded.secret, last_step = 0
    where factor.confirmed_at is null`;
}

/**
 * Consumes a time step, and confirms an unconfirmed authenticator app. A code that someone saw can't be used again (RFC 6238
 * section 5.2).
 * @returns false if this step or a later one was used before
 */
export async function consumeTimeStep(
  kysely: Kysely,
  personId: PersonId,
  step: number,
): Promise<boolean> {
  return kysely.transaction().execute(async (transaction) => {
    // Locks the row first, so that only one of two first codes confirms.
    const rows = await allRows<{ fresh: boolean }>(transaction)`
      with before as (
        select confirmed_at is null as fresh from second_factor where person_id = ${personId} for update)
      update second_factor set last_step = ${step}, confirmed_at = coalesce(confirmed_at, now())
      from before
      where person_id = ${personId} and last_step < ${step} returning before.fresh`;
    if (rows[0]?.fresh) await notifyPerson(transaction, personId, 'second-factor-added');
    return rows.length === 1;
  });
}

/** Removes a person's authenticator app, and notifies them if it was confirmed. */
export async function removeAuthenticator(kysely: Kysely, personId: PersonId): Promise<void> {
  await kysely.transaction().execute(async (transaction) => {
    const rows = await allRows<{ confirmed: boolean }>(transaction)`
      delete from second_factor where person_id = ${personId}
      returning confirmed_at is not null as confirmed`;
    await removeUnusedRecoveryCodes(transaction, personId);
    if (rows[0]?.confirmed) await notifyPerson(transaction, personId, 'second-factor-removed');
  });
}

/**
 * Removes a person's authenticator app, passkeys and recovery codes.
 * @returns false if there was no second factor
 */
export async function removeSecondFactors(
  transaction: Kysely,
  personId: PersonId,
): Promise<boolean> {
  const rows = await allRows<{ passkeys: number; apps: number }>(transaction)`
    with passkeys as (delete from passkey where person_id = ${personId} returning 1),
    apps as (
      delete from second_factor where person_id = ${personId}
      returning confirmed_at is not null as confirmed)
    select (select count(*) from passkeys)::integer as passkeys,
      (select count(*) from apps where confirmed)::integer as apps`;
  const { passkeys = 0, apps = 0 } = rows[0] ?? {};
  await removeUnusedRecoveryCodes(transaction, personId);
  if (apps > 0) await notifyPerson(transaction, personId, 'second-factor-removed');
  if (passkeys > 0) await notifyPerson(transaction, personId, 'passkey-removed');
  return apps + passkeys > 0;
}
