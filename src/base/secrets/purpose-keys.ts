import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';

const checksumBytes = 32;

/** The keys of one purpose. Holders follow a rotation of the master key at run time. */
export class PurposeKeys {
  #current: KeyObject;
  #others: readonly KeyObject[];

  constructor(current: KeyObject, others: readonly KeyObject[] = []) {
    this.#current = current;
    this.#others = others;
  }

  /** The key for everything new. */
  get current(): KeyObject {
    return this.#current;
  }

  /** Additional accepted keys during a rotation; otherwise none. */
  get others(): readonly KeyObject[] {
    return this.#others;
  }

  replace(current: KeyObject, others: readonly KeyObject[]): void {
    this.#current = current;
    this.#others = others;
  }

  /** The keyed checksum of a content (HMAC-SHA256), with the current key. */
  sign(content: string | Uint8Array): Buffer {
    return checksum(this.#current, content);
  }

  /** The checksums with all keys, the current one's first. */
  signWithAll(content: string | Uint8Array): [Buffer, ...Buffer[]] {
    return [this.sign(content), ...this.#others.map((key) => checksum(key, content))];
  }

  /**
   * True if a checksum was made of this content with any of the keys. Takes constant time.
   * @param bytes how many of its first bytes are kept
   */
  verify(content: string | Uint8Array, given: Uint8Array, bytes = checksumBytes): boolean {
    return (
      given.length === bytes &&
      this.some((key) => timingSafeEqual(checksum(key, content).subarray(0, bytes), given))
    );
  }

  /** `sign` in base64url. */
  signText(content: string): string {
    return this.sign(content).toString('base64url');
  }

  /** `verify` for what `signText` made. */
  verifyText(content: string, text: string): boolean {
    const given = Buffer.from(text, 'base64url');
    return given.toString('base64url') === text && this.verify(content, given);
  }

  /** True if any key matches, trying the current one first. */
  some(accepts: (key: KeyObject) => boolean): boolean {
    return accepts(this.#current) || this.#others.some(accepts);
  }
}

function checksum(key: KeyObject, content: string | Uint8Array): Buffer {
  return createHmac('sha256', key).update(content).digest();
}
