import { formatUuid } from '../foundation/format-uuid.ts';
import { type MessageId, parseMessageId } from '../foundation/ids.ts';
import type { MasterKey } from '../foundation/master-key.ts';
import { SignedLocalParts } from '../foundation/signed-local-part.ts';

/** The message and recipient that a return path identifies. */
export interface ReturnPath {
  readonly messageId: MessageId;
  /** 0 is To, 1 and up are Cc. */
  readonly recipient: number;
}

const idBytes = 16;

/**
 * Return paths for one message and recipient (VERP), signed so that a bounce proves that it answers our mail: `b-` and
 * 44 lower-case letters and digits.
 */
export class ReturnPaths {
  readonly #localParts: SignedLocalParts;

  constructor(key: MasterKey) {
    this.#localParts = new SignedLocalParts(key.keysFor('return path'), 'b-', idBytes + 1);
  }

  /**
   * The address for MAIL FROM.
   * @param domain whose MX receives bounces
   */
  make({ messageId, recipient }: ReturnPath, domain: string): string {
    const named = Buffer.alloc(idBytes + 1);
    named.write(messageId.replaceAll('-', ''), 'hex');
    named.writeUInt8(recipient, idBytes);
    return `${this.#localParts.write(named)}@${domain}`;
  }

  /** Parses an address, ignoring case; undefined if it wasn't made here. Safe for untrusted input. */
  read(address: string): ReturnPath | undefined {
    const named = this.#localParts.readAddress(address);
    const messageId = named && parseMessageId(formatUuid(named));
    return named && messageId && { messageId, recipient: named.readUInt8(idBytes) };
  }
}
