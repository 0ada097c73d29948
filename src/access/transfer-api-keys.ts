import { findPersonByEmail } from '../account/person-store.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId, PersonId } from '../foundation/ids.ts';
import { countApiKeysCreatedBy, findTransferAccounts, transferApiKeys } from './api-key-store.ts';

/** What becomes of the API keys of a person who is about to be disabled. */
export interface ApiKeyTransfer {
  /** How many were taken over, by account. */
  readonly transferred: ReadonlyMap<AccountId, number>;
  /** How many end with the person. */
  readonly notTransferred: number;
}

/**
 * Gives the API keys that a person made to another one, in every account that the other one owns; what is left ends with
 * the person.
 * @param newOwnerEmail undefined: nobody takes them over
 * @returns undefined where the heir can take over none of the keys that there are
 */
export async function transferAllApiKeys(
  transaction: Database['kysely'],
  from: PersonId,
  newOwnerEmail: string | undefined,
): Promise<ApiKeyTransfer | undefined> {
  const createdCount = await countApiKeysCreatedBy(transaction, from);
  const transferred = new Map<AccountId, number>();
  if (newOwnerEmail === undefined) return { transferred, notTransferred: createdCount };
  const newOwner = await findPersonByEmail(transaction, newOwnerEmail);
  if (newOwner === undefined || newOwner.id === from) return undefined;
  for (const accountId of await findTransferAccounts(transaction, from, newOwner.id)) {
    const count = await transferApiKeys(transaction, accountId, from, newOwner.id);
    if (count > 0) transferred.set(accountId, count);
  }
  if (createdCount > 0 && transferred.size === 0) return undefined;
  return { transferred, notTransferred: await countApiKeysCreatedBy(transaction, from) };
}
