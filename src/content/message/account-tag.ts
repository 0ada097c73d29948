import { createHash } from 'node:crypto';
import type { AccountId } from '../../base/values/ids.ts';

/** Bytes of the hash in an address; an ID itself can be as long as a local part. */
export const accountTagBytes = 6;

/** Identifies an account in a generated address: the first bytes of the SHA-256 of its ID. */
export function accountTagOf(accountId: AccountId): Buffer {
  return createHash('sha256').update(accountId).digest().subarray(0, accountTagBytes);
}
