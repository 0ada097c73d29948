import type { Database, Kysely } from '../../base/database/open-database.ts';
import type { PersonId } from '../../base/values/ids.ts';
import { maxPasswordLength, minPasswordLength } from '../account/hash-password.ts';
import { findGuessReason } from '../account/password-strength.ts';
import { setPasswordHash } from '../account/person-store.ts';
import { notifyPerson } from '../notices/security-notice-store.ts';
import { revokePersonCodes, revokePersonTokens } from '../oauth/revoke-tokens-store.ts';
import type { BrowserSession } from './browser/browser-session-store.ts';
import type { PasswordChecker } from './password-checker.ts';

/**
 * Why a new password is rejected, in sentences; undefined if it is acceptable (ASVS 2.1.1, 2.1.2, 2.1.7).
 * @param personal easily guessed texts, such as the person's name and address
 */
export async function findPasswordProblem(
  password: string,
  personal: readonly string[],
): Promise<string | undefined> {
  const length = [...password].length;
  if (length < minPasswordLength)
    return `Use at least ${minPasswordLength} characters for the new password.`;
  if (length > maxPasswordLength)
    return `Use at most ${maxPasswordLength} characters for the new password.`;
  const reason = await findGuessReason(password, personal);
  return reason && `The new password is too easy to guess. ${reason}`;
}

/**
 * Changes the password of a session's person and revokes everything obtained with the old one: tokens, codes and other
 * browser sessions, on all nodes within a second.
 * @throws TemporarilyUnavailable if too many passwords are waiting
 */
export async function changePassword(
  { database, passwords }: { readonly database: Database; readonly passwords: PasswordChecker },
  { personId, id }: Pick<BrowserSession, 'personId' | 'id'>,
  password: string,
): Promise<void> {
  const passwordHash = await passwords.hash(password, personId);
  await database.kysely
    .transaction()
    .execute((transaction) =>
      replacePersonPassword(transaction, personId, passwordHash, 'password-changed', id),
    );
}

/**
 * Like `changePassword`, with a hash, in the caller's transaction; queues the person's notice.
 * @param event undefined for a first password
 * @param keptSession the ID of the browser session to keep; undefined: none
 */
export async function replacePersonPassword(
  transaction: Kysely,
  personId: PersonId,
  passwordHash: string,
  event: 'password-changed' | 'password-set-by-link' | undefined = 'password-changed',
  keptSession?: string,
): Promise<void> {
  await revokePersonCodes(transaction, personId);
  await setPasswordHash(transaction, personId, passwordHash);
  await revokePersonTokens(transaction, personId, keptSession);
  if (event !== undefined) await notifyPerson(transaction, personId, event);
}
