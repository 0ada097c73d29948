import type { Kysely } from '../../../base/database/open-database.ts';
import { allRows, firstRow, hasRow, run } from '../../../base/database/statements.ts';
import { newId, type PersonId } from '../../../base/values/ids.ts';
import { notifyPerson } from '../../notices/security-notice-store.ts';
import { removeUnusedRecoveryCodes } from '../second-factor-store.ts';
import type { LiveChallenge } from './passkey-challenges.ts';

/*
 * Passkeys in the database. Nothing is cached, so removing one takes effect at once on every node.
 */

/** Passkeys that a person can have. */
export const maxPasskeys = 20;

/** A passkey as its owner sees it. */
export interface ListedPasskey {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

/** What browsers and authenticators know about a passkey. */
export interface PasskeyCredential {
  readonly credentialId: Buffer;
  readonly transports: readonly string[];
}

/** What verifying an assertion needs. */
export interface StoredPasskey extends PasskeyCredential {
  readonly personId: PersonId;
  readonly publicKey: Uint8Array;
  readonly signCount: number;
}

/** A person's passkeys, oldest first. */
export function listPasskeys(
  kysely: Kysely,
  personId: PersonId,
): Promise<(ListedPasskey & PasskeyCredential)[]> {
  return allRows<ListedPasskey & PasskeyCredential>(kysely)`
    select id, name, created_at as "createdAt", last_used_at as "lastUsedAt", credential_id as "credentialId", transports
    from passkey where person_id = ${personId} order by created_at, id`;
}

/** The passkey with this credential ID, of a person who isn't disabled. */
export function findPasskey(
  kysely: Kysely,
  credentialId: Buffer,
): Promise<StoredPasskey | undefined> {
  return firstRow<StoredPasskey>(kysely)`
    select k.person_id as "personId", k.credential_id as "credentialId", k.public_key as "publicKey",
      k.sign_count::float8 as "signCount", k.transports
    from passkey k join person p on p.id = k.person_id and p.disabled_at is null
    where k.credential_id = ${credentialId}`;
}

/**
 * Adds a passkey and spends its challenge; notifies the person.
 * @returns false if the challenge was used, the passkey is registered already, or the person has the maximum
 */
export async function savePasskey(
  kysely: Kysely,
  passkey: StoredPasskey & { readonly name: string },
  challenge: LiveChallenge,
): Promise<boolean> {
  return kysely.transaction().execute(async (transaction) => {
    if (!(await spendChallenge(transaction, challenge))) return false;
    // Serializes concurrent registrations, so that each counts the others.
    await run(transaction)`select from person where id = ${passkey.personId} for no key update`;
    const rows = await allRows(transaction)`
      insert into passkey
        (id, person_id, credential_id, public_key, sign_count, transports, name, created_at)
      select ${newId()}, ${passkey.personId}, ${passkey.credentialId}, ${Buffer.from(passkey.publicKey)},
        ${passkey.signCount}, ${passkey.transports}, ${passkey.name}, now()
      where (select count(*) from passkey where person_id = ${passkey.personId}) < ${maxPasskeys}
      on conflict (credential_id) do nothing returning 1`;
    if (rows.length === 0) return false;
    await notifyPerson(transaction, passkey.personId, 'passkey-added');
    return true;
  });
}

/**
 * Records a use. Of two uses of one challenge on any nodes, one succeeds, and so does one of two with the same count.
 * @returns false if the challenge was used, or the count isn't above the stored one (a copied key)
 */
export async function recordPasskeyUse(
  kysely: Kysely,
  { credentialId, personId }: StoredPasskey,
  signCount: number,
  challenge: LiveChallenge,
): Promise<boolean> {
  return kysely.transaction().execute(async (transaction) => {
    if (!(await spendChallenge(transaction, challenge))) return false;
    return hasRow(transaction)`
      update passkey set sign_count = ${signCount}, last_used_at = now()
      where credential_id = ${credentialId} and person_id = ${personId}
        and (sign_count < ${signCount} or (sign_count = 0 and ${signCount} = 0))
      returning 1`;
  });
}

export function renamePasskey(
  kysely: Kysely,
  personId: PersonId,
  id: string,
  name: string,
): Promise<boolean> {
  return hasRow(kysely)`
    update passkey set name = ${name} where person_id = ${personId} and id::text = ${id} returning 1`;
}

/**
 * Removes one of a person's passkeys, and the recovery codes if it was the last second factor.
 * @returns its name; undefined if there is none
 */
export async function removePasskey(
  kysely: Kysely,
  personId: PersonId,
  id: string,
): Promise<string | undefined> {
  return kysely.transaction().execute(async (transaction) => {
    const rows = await allRows<{ name: string }>(transaction)`
      delete from passkey where person_id = ${personId} and id::text = ${id} returning name`;
    if (rows[0] === undefined) return undefined;
    await removeUnusedRecoveryCodes(transaction, personId);
    await notifyPerson(transaction, personId, 'passkey-removed');
    return rows[0].name;
  });
}

/** @returns false if the challenge was used before */
export function spendChallenge(
  transaction: Kysely,
  { bytes, expiresAt }: LiveChallenge,
): Promise<boolean> {
  return hasRow(transaction)`
    insert into spent_challenge (challenge, expires_at) values (${bytes}, ${expiresAt})
    on conflict (challenge) do nothing returning 1`;
}
