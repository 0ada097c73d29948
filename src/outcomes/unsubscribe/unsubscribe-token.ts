import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';
import type { MasterKey } from '../../base/secrets/master-key.ts';
import type { PurposeKeys } from '../../base/secrets/purpose-keys.ts';
import type { EmailAddress } from '../../base/values/email-address.ts';
import { ByteReader } from '../tracking/byte-fields.ts';
import { readMessage, type TrackedMessage, writeMessage } from '../tracking/tracking-tokens.ts';

/** The address a token unsubscribes, and from which account. */
export interface Unsubscription extends TrackedMessage {
  readonly address: EmailAddress;
}

const ivBytes = 16;
const maxTextLength = 1_000;

/**
 * Tokens of unsubscribe links. They contain the encrypted address, so they work after the message is erased and reveal
 * nothing in logs; the IV is the keyed hash of the content (as in RFC 5297), so that every attempt has the same token.
 */
export class UnsubscribeTokens {
  readonly #cipherKeys: PurposeKeys;
  readonly #hashKeys: PurposeKeys;

  constructor(key: MasterKey) {
    this.#cipherKeys = key.keysFor('unsubscribe cipher');
    this.#hashKeys = key.keysFor('unsubscribe hash');
  }

  make(unsubscription: Unsubscription): string {
    const content = writeMessage(unsubscription).text(unsubscription.address).finish();
    const iv = hash(this.#hashKeys.current, content);
    const cipher = createCipheriv('aes-256-ctr', this.#cipherKeys.current, iv);
    return Buffer.concat([iv, cipher.update(content), cipher.final()]).toString('base64url');
  }

  /** A token's data; undefined if it wasn't made here. */
  read(text: string): Unsubscription | undefined {
    if (text.length > maxTextLength || !/^[A-Za-z0-9_-]+$/.test(text)) return undefined;
    const bytes = Buffer.from(text, 'base64url');
    if (bytes.length <= ivBytes) return undefined;
    const content = this.#decrypt(bytes.subarray(0, ivBytes), bytes.subarray(ivBytes));
    if (content === undefined) return undefined;
    const reader = new ByteReader(content);
    return { ...readMessage(reader), address: reader.text() as EmailAddress };
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
