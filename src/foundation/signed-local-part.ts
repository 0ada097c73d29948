import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import { decodeBase32, encodeBase32 } from './base32.ts';
import type { PurposeKeys } from './purpose-keys.ts';

const signatureBytes = 10;
/** Longer than any local part that is written here. */
const maxLength = 100;

/**
 * Local parts of addresses that prove that they were made here: a prefix, and the named bytes with their signature in lower-case
 * letters and digits, because servers may change the case.
 */
export class SignedLocalParts {
  readonly #keys: PurposeKeys;
  readonly #prefix: string;
  readonly #namedBytes: number;

  /** @param prefix with its separator, such as `b-` @param namedBytes how many bytes each of them names */
  constructor(keys: PurposeKeys, prefix: string, namedBytes: number) {
    this.#keys = keys;
    this.#prefix = prefix;
    this.#namedBytes = namedBytes;
  }

  write(named: Buffer): string {
    return this.#prefix + encodeBase32(Buffer.concat([named, sign(this.#keys.current, named)]));
  }

  /** The named bytes of an address, ignoring case; undefined if it wasn't made here. Safe for untrusted input. */
  readAddress(address: string): Buffer | undefined {
    const at = address.lastIndexOf('@');
    return at === -1 ? undefined : this.read(address.slice(0, at));
  }

  /** The named bytes of a local part; like `readAddress`. */
  read(text: string): Buffer | undefined {
    if (text.length > maxLength) return undefined;
    const local = text.toLowerCase();
    if (!local.startsWith(this.#prefix)) return undefined;
    const encoded = local.slice(this.#prefix.length);
    const bytes = /^[a-z2-7]+$/.test(encoded) ? decodeBase32(encoded) : undefined;
    if (bytes?.length !== this.#namedBytes + signatureBytes) return undefined;
    const named = bytes.subarray(0, this.#namedBytes);
    const given = bytes.subarray(this.#namedBytes);
    return this.#keys.some((key) => timingSafeEqual(sign(key, named), given)) ? named : undefined;
  }
}

function sign(key: KeyObject, named: Buffer): Buffer {
  return createHmac('sha256', key).update(named).digest().subarray(0, signatureBytes);
}
