import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';
import type { PurposeKeys } from './purpose-keys.ts';

const ivBytes = 16;

/**
 * URL-safe tokens of encrypted bytes, which reveal nothing in logs. The IV is the keyed hash of the content (as in RFC 5297), so
 * the same content has the same token under the same master key.
 */
export class SealedTokens {
  readonly #cipherKeys: PurposeKeys;
  readonly #hashKeys: PurposeKeys;
  readonly #maxLength: number;

  /** @param maxLength longer tokens are rejected unread */
  constructor(cipherKeys: PurposeKeys, hashKeys: PurposeKeys, maxLength: number) {
    this.#cipherKeys = cipherKeys;
    this.#hashKeys = hashKeys;
    this.#maxLength = maxLength;
  }

  make(content: Buffer): string {
    const iv = hash(this.#hashKeys.current, content);
    const cipher = createCipheriv('aes-256-ctr', this.#cipherKeys.current, iv);
    return Buffer.concat([iv, cipher.update(content), cipher.final()]).toString('base64url');
  }

  /** A token's bytes; undefined if it wasn't made here. Safe for untrusted input. */
  read(token: string): Buffer | undefined {
    if (token.length > this.#maxLength) return undefined;
    const bytes = Buffer.from(token, 'base64url');
    // Other texts for the same bytes aren't tokens.
    if (bytes.length <= ivBytes || bytes.toString('base64url') !== token) return undefined;
    return this.#decrypt(bytes.subarray(0, ivBytes), bytes.subarray(ivBytes));
  }

  /** Both lists are in the same order, so the keys of one master key have the same index. */
  #decrypt(iv: Buffer, encrypted: Buffer): Buffer | undefined {
    const hashKeys = [this.#hashKeys.current, ...this.#hashKeys.others];
    const cipherKeys = [this.#cipherKeys.current, ...this.#cipherKeys.others];
    for (const [index, hashKey] of hashKeys.entries()) {
      const cipherKey = cipherKeys[index];
      if (cipherKey === undefined) return undefined;
      const decipher = createDecipheriv('aes-256-ctr', cipherKey, iv);
      const content = Buffer.concat([decipher.update(encrypted), decipher.final()]);
      if (timingSafeEqual(hash(hashKey, content), iv)) return content;
    }
    return undefined;
  }
}

function hash(key: KeyObject, content: Buffer): Buffer {
  return createHmac('sha256', key).update(content).digest().subarray(0, ivBytes);
}
