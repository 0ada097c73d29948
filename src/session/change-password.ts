import { maxPasswordLength, minPasswordLength } from '../account/hash-password.ts';
import { setPasswordHash } from '../account/person-store.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { PersonId } from '../foundation/ids.ts';
import { notifyPerson } from '../outbox/security-notice-store.ts';
import type { PasswordChecker } from './password-checker.ts';
import { revokePersonCodes, revokePersonTokens } from './revoke-tokens-store.ts';

/** Why a new password cannot be taken, as a sentence; undefined where it can (ASVS 2.1.1, 2.1.2). */
export function passwordProblem(password: string): string | undefined {
  const length = [...password].length;
  if (length < minPasswordLength)
    return `The new password needs at least ${minPasswordLength} characters.`;
  if (length > maxPasswordLength)
    return `The new password can have at most ${maxPasswordLength} characters.`;
  return undefined;
}

/**
 * Gives a person another password and ends everything that the old one opened: tokens, codes and browser sessions,
 * on all nodes within a second.
 * @throws TemporarilyUnavailable where too many passwords wait already
 */
export async function changePassword(
  { database, passwords }: { readonly database: Database; readonly passwords: PasswordChecker },
  personId: PersonId,
  password: string,
): Promise<void> {
  const passwordHash = await passwords.hash(password);
  await database.kysely
    .transaction()
    .execute((transaction) => replacePersonPassword(transaction, personId, passwordHash));
}

/**
 * The same with a password that is hashed already, inside the caller's transaction, which tells the person of it.
 * @param event undefined for a first password
 */
export async function replacePersonPassword(
  transaction: Database['kysely'],
  personId: PersonId,
  passwordHash: string,
  event: 'password-changed' | 'password-set-by-link' | undefined = 'password-changed',
): Promise<void> {
  await revokePersonCodes(transaction, personId);
  await setPasswordHash(transaction, personId, passwordHash);
  await revokePersonTokens(transaction, personId);
  if (event !== undefined) await notifyPerson(transaction, personId, event);
}
