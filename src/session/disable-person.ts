import {
  changeKeepingOwners,
  lastOwnerReason,
  readOwnedAccounts,
} from '../account/last-owner-store.ts';
import { setPersonDisabled } from '../account/person-store.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { PersonId } from '../foundation/ids.ts';
import { revokePersonCodes, revokePersonTokens } from './revoke-tokens-store.ts';

/**
 * Locks a person out, unless an account would lose its last owner: tokens, codes and browser sessions end on all nodes within a
 * second.
 * @param transaction commits this together with the caller's other changes
 * @returns why the person can't be disabled, and what to do first; undefined if they are
 */
export async function disablePerson(
  transaction: Database['kysely'],
  personId: PersonId,
): Promise<string | undefined> {
  const owned = await readOwnedAccounts(transaction, personId);
  const locked = await changeKeepingOwners(transaction, owned, async () => {
    await revokePersonCodes(transaction, personId);
    await setPersonDisabled(transaction, personId, true);
    await revokePersonTokens(transaction, personId);
  });
  return locked === undefined
    ? undefined
    : `This is the last owner of the account ${locked}: ${lastOwnerReason}. Add another owner there first`;
}

/** Enables a disabled person; revoked sessions and tokens stay revoked. */
export function enablePerson(transaction: Database['kysely'], personId: PersonId): Promise<void> {
  return setPersonDisabled(transaction, personId, false);
}
