import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { MasterKey } from '../foundation/master-key.ts';

/**
 * Client secrets as the database keeps them: HMAC-SHA256 under a key of the installation. The secrets are random or
 * long, so nothing slower is needed, and a stolen database alone does not let anyone try guesses.
 */
export class ClientSecrets {
  readonly #key: KeyObject;

  constructor(key: MasterKey) {
    this.#key = key.derive('client secret');
  }

  /** What is stored for a secret. */
  hash(secret: string): Buffer {
    return createHmac('sha256', this.#key).update(secret).digest();
  }

  /** True where `secret` is the one whose hash was stored; takes the same time whatever it is. */
  matches(secret: string, secretHash: Uint8Array): boolean {
    const given = this.hash(secret);
    return given.length === secretHash.length && timingSafeEqual(given, secretHash);
  }
}
