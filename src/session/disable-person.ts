import { setPersonDisabled } from '../account/person-store.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { PersonId } from '../foundation/ids.ts';
import { revokePersonCodes, revokePersonTokens } from './revoke-tokens-store.ts';

/**
 * Locks a person out: tokens, codes and browser sessions end on all nodes within a second.
 * @param transaction commits this together with the caller's other changes
 */
export async function disablePerson(
  transaction: Database['kysely'],
  personId: PersonId,
): Promise<void> {
  await revokePersonCodes(transaction, personId);
  await setPersonDisabled(transaction, personId, true);
  await revokePersonTokens(transaction, personId);
}

/** Enables a disabled person; revoked sessions and tokens stay revoked. */
export function enablePerson(transaction: Database['kysely'], personId: PersonId): Promise<void> {
  return setPersonDisabled(transaction, personId, false);
}
