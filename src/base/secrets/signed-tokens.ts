import type { PurposeKeys } from './purpose-keys.ts';

const macBytes = 16;
/** Longer text is rejected unread. */
const maxTextLength = 6_000;

/** URL-safe tokens signed with HMAC-SHA256, truncated to 128 bits (RFC 2104 section 5). */
export class SignedTokens {
  readonly #keys: PurposeKeys;

  /** @param keys used for nothing else */
  constructor(keys: PurposeKeys) {
    this.#keys = keys;
  }

  make(content: Buffer): string {
    const mac = this.#keys.sign(content).subarray(0, macBytes);
    return Buffer.concat([mac, content]).toString('base64url');
  }

  /** The token's bytes; undefined if it wasn't made here. Safe for untrusted input. */
  read(text: string): Buffer | undefined {
    if (text.length > maxTextLength) return undefined;
    const bytes = Buffer.from(text, 'base64url');
    const content = bytes.subarray(macBytes);
    const isSigned = this.#keys.verify(content, bytes.subarray(0, macBytes), macBytes);
    // Another spelling of the same bytes would count as another token.
    return isSigned && bytes.toString('base64url') === text ? content : undefined;
  }
}
