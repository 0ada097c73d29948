import type { Kysely } from '../../base/database/open-database.ts';
import type { PersonId } from '../../base/values/ids.ts';
import type { SignInSettings } from '../access/authorize.ts';
import {
  changeWithoutLockout,
  describeLockout,
  lockoutScopeOf,
} from '../access/last-owner-store.ts';
import { setOperator, setPersonDisabled } from '../account/person-store.ts';
import { revokePersonCodes, revokePersonTokens } from '../oauth/revoke-tokens-store.ts';

/**
 * Locks a person out, unless they are the last owner of an account or the last operator: tokens, codes and browser sessions end on all nodes within a
 * second.
 * @param transaction commits this together with the caller's other changes
 * @returns why the person can't be disabled, and what to do first; undefined if they are
 */
export async function disablePerson(
  transaction: Kysely,
  settings: SignInSettings,
  personId: PersonId,
): Promise<string | undefined> {
  const scope = await lockoutScopeOf(transaction, personId);
  const locked = await changeWithoutLockout(transaction, settings, scope, async () => {
    await revokePersonCodes(transaction, personId);
    await setPersonDisabled(transaction, personId, true);
    await revokePersonTokens(transaction, personId);
  });
  return locked && describeLockout(locked);
}

/**
 * Makes a person an operator or takes the role, unless that leaves an account without an owner who can sign in, or the installation
 * without such an operator.
 * @returns why it isn't done, and what to do first; undefined if it is
 */
export async function changeOperator(
  transaction: Kysely,
  settings: SignInSettings,
  personId: PersonId,
  operator: boolean,
): Promise<string | undefined> {
  const scope = await lockoutScopeOf(transaction, personId);
  const locked = await changeWithoutLockout(transaction, settings, scope, () =>
    setOperator(transaction, personId, operator),
  );
  return locked && describeLockout(locked);
}

/** Enables a disabled person; revoked sessions and tokens stay revoked. */
export function enablePerson(transaction: Kysely, personId: PersonId): Promise<void> {
  return setPersonDisabled(transaction, personId, false);
}
