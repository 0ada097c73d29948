import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';
import type { EmailAddress } from '../../foundation/email-address.ts';
import type { AccountId, MessageId } from '../../foundation/ids.ts';
import type { MasterKey } from '../../foundation/master-key.ts';
import { ByteReader, ByteWriter } from '../tracking/byte-fields.ts';
import type { TrackedMessage } from '../tracking/tracking-tokens.ts';

/** Whom a token takes off an account's mail. */
export interface Unsubscription extends TrackedMessage {
  readonly address: EmailAddress;
}

const ivBytes = 16;
const longestText = 1_000;

/**
 * Tokens of unsubscribe links. They hold the address itself, encrypted, so that they work after the message was erased and
 * show nothing in a log. Deterministic, as a message is the same on every attempt: the initialization vector is the keyed
 * hash of the content (as in RFC 5297) and proves its integrity too.
 */
export class UnsubscribeTokens {
  readonly #cipherKey: KeyObject;
  readonly #hashKey: KeyObject;

  constructor(key: MasterKey) {
    this.#cipherKey = key.derive('unsubscribe cipher');
    this.#hashKey = key.derive('unsubscribe hash');
  }

  make({ accountId, messageId, retentionDays, address }: Unsubscription): string {
    const content = new ByteWriter()
      .uuid(messageId)
      .text(accountId)
      .number(retentionDays)
      .text(address)
      .finish();
    const iv = this.#hash(content);
    const cipher = createCipheriv('aes-256-ctr', this.#cipherKey, iv);
    return Buffer.concat([iv, cipher.update(content), cipher.final()]).toString('base64url');
  }

  /** What a token says; undefined where it was not made here. */
  read(text: string): Unsubscription | undefined {
    if (text.length > longestText || !/^[A-Za-z0-9_-]+$/.test(text)) return undefined;
    const bytes = Buffer.from(text, 'base64url');
    if (bytes.length <= ivBytes) return undefined;
    const iv = bytes.subarray(0, ivBytes);
    const decipher = createDecipheriv('aes-256-ctr', this.#cipherKey, iv);
    const content = Buffer.concat([decipher.update(bytes.subarray(ivBytes)), decipher.final()]);
    if (!timingSafeEqual(this.#hash(content), iv)) return undefined;
    const reader = new ByteReader(content);
    const messageId = reader.uuid() as MessageId;
    const accountId = reader.text() as AccountId;
    return {
      messageId,
      accountId,
      retentionDays: reader.number(),
      address: reader.text() as EmailAddress,
    };
  }

  #hash(content: Buffer): Buffer {
    return createHmac('sha256', this.#hashKey).update(content).digest().subarray(0, ivBytes);
  }
}
