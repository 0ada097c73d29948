import { setPersonDisabled } from '../account/person-store.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { PersonId } from '../foundation/ids.ts';
import { endCodesOfPerson, endTokensOfPerson } from './end-tokens-store.ts';

/** Keeps a person out of everything: tokens, codes and browser sessions end on all nodes within a second. */
export function disablePerson(database: Database, personId: PersonId): Promise<void> {
  return database.kysely.transaction().execute(async (transaction) => {
    await endCodesOfPerson(transaction, personId);
    await setPersonDisabled(transaction, personId, true);
    await endTokensOfPerson(transaction, personId);
  });
}

/** Lets a disabled person in again; what ended stays ended. */
export function enablePerson(database: Database, personId: PersonId): Promise<void> {
  return database.kysely
    .transaction()
    .execute((transaction) => setPersonDisabled(transaction, personId, false));
}
