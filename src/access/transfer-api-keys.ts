import { findPersonByEmail } from '../account/person-store.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId, PersonId } from '../foundation/ids.ts';
import { countApiKeysCreatedBy, findTransferAccounts, transferApiKeys } from './api-key-store.ts';

/** What happens to the API keys of a person who is about to be disabled. */
export interface ApiKeyTransfer {
  /** Number of transferred keys by account. */
  readonly transferred: ReadonlyMap<AccountId, number>;
  /** Number of keys removed with the person. */
  readonly notTransferred: number;
}

/**
 * Transfers the API keys that a person created to someone else, in every account that the new owner owns; the
 * remaining keys are removed with the person.
 * @param newOwnerEmail undefined: no transfer
 * @returns undefined if there are keys and the new owner can take over none of them
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
