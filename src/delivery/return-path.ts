import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import { formatUuid } from '../foundation/format-uuid.ts';
import { type MessageId, parseMessageId } from '../foundation/ids.ts';
import type { MasterKey } from '../foundation/master-key.ts';
import type { PurposeKeys } from '../foundation/purpose-keys.ts';

/** The message and recipient that a return path identifies. */
export interface ReturnPath {
  readonly messageId: MessageId;
  /** 0 is To, 1 and up are Cc. */
  readonly recipient: number;
}

const prefix = 'b';
const idBytes = 16;
const signatureBytes = 10;
const totalBytes = idBytes + 1 + signatureBytes;
const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
const pattern = /^b-([a-z2-7]+)$/;

/**
 * Return paths for one message and recipient (VERP), signed so that a bounce proves that it answers our mail: `b-` and
 * 44 lower-case letters and digits (RFC 4648 section 6), because servers may change the case.
 */
export class ReturnPaths {
  readonly #keys: PurposeKeys;

  constructor(key: MasterKey) {
    this.#keys = key.keysFor('return path');
  }

  /**
   * The address for MAIL FROM.
   * @param domain whose MX receives bounces
   */
  make({ messageId, recipient }: ReturnPath, domain: string): string {
    const named = Buffer.alloc(idBytes + 1);
    named.write(messageId.replaceAll('-', ''), 'hex');
    named.writeUInt8(recipient, idBytes);
    return `${prefix}-${encode(Buffer.concat([named, sign(this.#keys.current, named)]))}@${domain}`;
  }

  /** Parses an address, ignoring case; undefined if it wasn't made here. Safe for untrusted input. */
  read(address: string): ReturnPath | undefined {
    const at = address.lastIndexOf('@');
    if (at === -1 || at > 100) return undefined;
    const bytes = decode(pattern.exec(address.slice(0, at).toLowerCase())?.[1] ?? '');
    if (bytes?.length !== totalBytes) return undefined;
    const named = bytes.subarray(0, idBytes + 1);
    const given = bytes.subarray(idBytes + 1);
    if (!this.#keys.some((key) => timingSafeEqual(sign(key, named), given))) return undefined;
    const messageId = parseMessageId(formatUuid(named));
    return messageId && { messageId, recipient: named.readUInt8(idBytes) };
  }
}

function sign(key: KeyObject, named: Buffer): Buffer {
  return createHmac('sha256', key).update(named).digest().subarray(0, signatureBytes);
}

function encode(bytes: Buffer): string {
  let text = '';
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += alphabet[(value >>> bits) & 31];
    }
    value &= (1 << bits) - 1;
  }
  return bits === 0 ? text : text + alphabet[(value << (5 - bits)) & 31];
}

/** Undefined if the text isn't the canonical encoding of its bytes. */
function decode(text: string): Buffer | undefined {
  const bytes: number[] = [];
  let bits = 0;
  let value = 0;
  for (const letter of text) {
    value = (value << 5) | alphabet.indexOf(letter);
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((value >>> bits) & 255);
    value &= (1 << bits) - 1;
  }
  const decoded = Buffer.from(bytes);
  return encode(decoded) === text ? decoded : undefined;
}
