import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { PurposeKeys } from './purpose-keys.ts';

const cipherName = 'aes-256-ctr';
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
    const iv = this.#hashKeys.sign(content).subarray(0, ivBytes);
    const encrypted = createCipheriv(cipherName, this.#cipherKeys.current, iv).update(content);
    return Buffer.concat([iv, encrypted]).toString('base64url');
  }

  /** A token's bytes; undefined if it wasn't made here. Safe for untrusted input. */
  read(token: string): Buffer | undefined {
    if (token.length > this.#maxLength) return undefined;
    const bytes = Buffer.from(token, 'base64url');
    // Other texts for the same bytes aren't tokens.
    if (bytes.length <= ivBytes || bytes.toString('base64url') !== token) return undefined;
    const iv = bytes.subarray(0, ivBytes);
    return [this.#cipherKeys.current, ...this.#cipherKeys.others]
      .map((key) => createDecipheriv(cipherName, key, iv).update(bytes.subarray(ivBytes)))
      .find((content) => this.#hashKeys.verify(content, iv, ivBytes));
  }
}
