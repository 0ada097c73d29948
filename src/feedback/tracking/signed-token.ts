import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { PurposeKeys } from '../../foundation/purpose-keys.ts';

const macBytes = 16;
/** Longer text is rejected unread. */
const maxTextLength = 6_000;
const alphabet = /^[A-Za-z0-9_-]+$/;

/** URL-safe tokens signed with HMAC-SHA256, truncated to 128 bits (RFC 2104 section 5). */
export class SignedTokens {
  readonly #keys: PurposeKeys;

  /** @param keys used for nothing else */
  constructor(keys: PurposeKeys) {
    this.#keys = keys;
  }

  make(content: Buffer): string {
    return Buffer.concat([sign(this.#keys.current, content), content]).toString('base64url');
  }

  /** The token's bytes; undefined if it wasn't made here. Safe for untrusted input. */
  read(text: string): Buffer | undefined {
    if (text.length > maxTextLength || !alphabet.test(text)) return undefined;
    const bytes = Buffer.from(text, 'base64url');
    if (bytes.length <= macBytes) return undefined;
    const content = bytes.subarray(macBytes);
    const given = bytes.subarray(0, macBytes);
    const signed = this.#keys.some((key) => timingSafeEqual(sign(key, content), given));
    return signed ? content : undefined;
  }
}

function sign(key: KeyObject, content: Buffer): Buffer {
  return createHmac('sha256', key).update(content).digest().subarray(0, macBytes);
}
