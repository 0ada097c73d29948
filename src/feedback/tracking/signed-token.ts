import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { PurposeKeys } from '../../foundation/purpose-keys.ts';

const macBytes = 16;
/** Longer text is refused unread. */
const maxTextLength = 6_000;
const alphabet = /^[A-Za-z0-9_-]+$/;

/** Bytes in a URL, signed with HMAC-SHA256 cut to 128 bits (RFC 2104 section 5), so that nobody else can make one. */
export class SignedTokens {
  readonly #keys: PurposeKeys;

  /** @param keys for this purpose alone */
  constructor(keys: PurposeKeys) {
    this.#keys = keys;
  }

  /** URL-safe text of the bytes and their signature. */
  make(content: Buffer): string {
    return Buffer.concat([sign(this.#keys.current, content), content]).toString('base64url');
  }

  /** The bytes of a text that was made here, or undefined. Takes whatever a stranger sends. */
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
