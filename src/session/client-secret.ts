import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { MasterKey } from '../foundation/master-key.ts';
import type { PurposeKeys } from '../foundation/purpose-keys.ts';

/**
 * Hashes client secrets with HMAC-SHA256 under a key of the installation. The secrets are random or long, so nothing
 * slower is needed, and a stolen database alone allows no guessing.
 */
export class ClientSecretHasher {
  readonly #keys: PurposeKeys;

  constructor(key: MasterKey) {
    this.#keys = key.keysFor('client secret');
  }

  /** The hash to store for a secret. */
  hash(secret: string): Buffer {
    return keyedHash(this.#keys.current, secret);
  }

  /** True if `secret` matches the stored hash; takes constant time. */
  matches(secret: string, secretHash: Uint8Array): boolean {
    return this.#keys.some((key) => isHashOf(key, secret, secretHash));
  }

  /** The hash to store for a matching secret, if the stored one is outdated. */
  rehash(secret: string, secretHash: Uint8Array): Buffer | undefined {
    if (this.#keys.others.length === 0) return undefined;
    const wasHashedWith = (key: KeyObject) => isHashOf(key, secret, secretHash);
    return wasHashedWith(this.#keys.current) || !this.#keys.others.some(wasHashedWith)
      ? undefined
      : this.hash(secret);
  }
}

function isHashOf(key: KeyObject, secret: string, secretHash: Uint8Array): boolean {
  const given = keyedHash(key, secret);
  return given.length === secretHash.length && timingSafeEqual(given, secretHash);
}

function keyedHash(key: KeyObject, secret: string): Buffer {
  return createHmac('sha256', key).update(secret).digest();
}
