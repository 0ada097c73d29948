import { findPersonByEmail } from '../account/person-store.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId, PersonId } from '../foundation/ids.ts';
import { countApiKeysOf, findAccountsOfHeir, takeOverApiKeys } from './api-key-store.ts';

/** What becomes of the API keys of a person who is about to be disabled. */
export interface KeysHandedOver {
  /** How many were taken over, by account. */
  readonly takenOver: ReadonlyMap<AccountId, number>;
  /** How many end with the person. */
  readonly ending: number;
}

/**
 * Gives the API keys that a person made to another one, in every account that the other one owns; what is left ends with
 * the person.
 * @param heirEmail undefined: nobody takes them over
 * @returns undefined where the heir can take over none of the keys that there are
 */
export async function handKeysOverEverywhere(
  transaction: Database['kysely'],
  from: PersonId,
  heirEmail: string | undefined,
): Promise<KeysHandedOver | undefined> {
  const made = await countApiKeysOf(transaction, from);
  const takenOver = new Map<AccountId, number>();
  if (heirEmail === undefined) return { takenOver, ending: made };
  const heir = await findPersonByEmail(transaction, heirEmail);
  if (heir === undefined || heir.id === from) return undefined;
  for (const accountId of await findAccountsOfHeir(transaction, from, heir.id)) {
    const count = await takeOverApiKeys(transaction, accountId, from, heir.id);
    if (count > 0) takenOver.set(accountId, count);
  }
  if (made > 0 && takenOver.size === 0) return undefined;
  return { takenOver, ending: await countApiKeysOf(transaction, from) };
}
