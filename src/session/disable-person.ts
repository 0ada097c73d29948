import { setPersonDisabled } from '../account/person-store.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { PersonId } from '../foundation/ids.ts';
import { revokePersonCodes, revokePersonTokens } from './revoke-tokens-store.ts';

/**
 * Keeps a person out of everything: tokens, codes and browser sessions end on all nodes within a second.
 * @param transaction what is read of the person meanwhile and written with it is committed together
 */
export async function disablePerson(
  transaction: Database['kysely'],
  personId: PersonId,
): Promise<void> {
  await revokePersonCodes(transaction, personId);
  await setPersonDisabled(transaction, personId, true);
  await revokePersonTokens(transaction, personId);
}

/** Lets a disabled person in again; what ended stays ended. */
export function enablePerson(transaction: Database['kysely'], personId: PersonId): Promise<void> {
  return setPersonDisabled(transaction, personId, false);
}
