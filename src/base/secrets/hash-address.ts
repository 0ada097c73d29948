import { createHmac, type KeyObject } from 'node:crypto';
import type { ComparableAddress } from '../values/email-address.ts';
import type { MasterKey } from './master-key.ts';

/** The key that hashes addresses for records. */
export function addressHashKey(key: MasterKey): KeyObject {
  return key.derive('privacy record');
}

/**
 * Names an address in records that outlive its erasure: whoever has the address and the master key can find them, and nobody can
 * read it from them.
 */
export function hashAddress(hashKey: KeyObject, address: ComparableAddress): Buffer {
  return createHmac('sha256', hashKey).update(address).digest();
}

/** The same as an ID in the audit log. */
export function auditIdOf(hashKey: KeyObject, address: ComparableAddress): string {
  return hashAddress(hashKey, address).toString('hex', 0, 12);
}
