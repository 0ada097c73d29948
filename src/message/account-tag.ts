import { createHash } from 'node:crypto';
import type { AccountId } from '../foundation/ids.ts';

/** How many bytes of the hash an address has: an ID can be as long as a local part. */
export const accountTagBytes = 6;

/** Stands for an account in a generated address: the first bytes of the SHA-256 of its ID. */
export function accountTagOf(accountId: AccountId): Buffer {
  return createHash('sha256').update(accountId).digest().subarray(0, accountTagBytes);
}
