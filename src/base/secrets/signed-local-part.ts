import { Secret } from 'otpauth';
import type { PurposeKeys } from './purpose-keys.ts';

const signatureBytes = 10;
/** Longer than any local part written here. */
const maxLength = 100;

/**
 * Local parts that prove that an address was made here: a prefix, and the named bytes with their signature in lower-case letters
 * and digits, because servers may change the case.
 */
export class SignedLocalParts {
  readonly #keys: PurposeKeys;
  readonly #prefix: string;
  readonly #namedBytes: number;

  /** @param prefix with its separator, such as `b-` @param namedBytes number of bytes each one names */
  constructor(keys: PurposeKeys, prefix: string, namedBytes: number) {
    this.#keys = keys;
    this.#prefix = prefix;
    this.#namedBytes = namedBytes;
  }

  write(named: Buffer): string {
    const signature = this.#keys.sign(named).subarray(0, signatureBytes);
    return this.#prefix + encodeBase32(Buffer.concat([named, signature]));
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
    return this.#keys.verify(named, given, signatureBytes) ? named : undefined;
  }
}

/** Bytes in lower-case letters and digits (RFC 4648 section 6) without padding, for names whose case can change. */
function encodeBase32(bytes: Uint8Array): string {
  return new Secret({ buffer: Uint8Array.from(bytes).buffer }).base32.toLowerCase();
}

/**
 * Decodes a text written by `encodeBase32`.
 * @returns undefined if it isn't the canonical encoding of its bytes
 */
function decodeBase32(text: string): Buffer | undefined {
  const decoded = Buffer.from(Secret.fromBase32(text).bytes);
  return encodeBase32(decoded) === text ? decoded : undefined;
}
