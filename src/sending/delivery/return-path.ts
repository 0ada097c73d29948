import type { MasterKey } from '../../base/secrets/master-key.ts';
import { SignedLocalParts } from '../../base/secrets/signed-local-part.ts';
import { type AccountId, type MessageId, parseMessageId } from '../../base/values/ids.ts';
import { formatUuid } from '../../base/values/uuid7.ts';
import { accountTagBytes, accountTagOf } from '../../content/message/account-tag.ts';

/** The message and recipient that a return path identifies. */
export interface ReturnPath {
  readonly messageId: MessageId;
  /** 0 is To, 1 and up are Cc. */
  readonly recipient: number;
  /** Undefined: made before release 0.2.0. */
  readonly accountTag: Buffer | undefined;
}

interface NamedRecipient extends Pick<ReturnPath, 'messageId' | 'recipient'> {
  readonly accountId: AccountId;
}

const idBytes = 16;

/**
 * Return paths for one message and recipient (VERP), signed so that a bounce proves that it belongs to our mail: `b-` and
 * 53 lower-case letters and digits.
 */
export class ReturnPaths {
  readonly #localParts: SignedLocalParts;
  /** Without an account tag. */
  readonly #earlier: SignedLocalParts;

  constructor(key: MasterKey) {
    const keys = key.keysFor('return path');
    this.#localParts = new SignedLocalParts(keys, 'b-', idBytes + 1 + accountTagBytes);
    this.#earlier = new SignedLocalParts(keys, 'b-', idBytes + 1);
  }

  /**
   * The address for MAIL FROM.
   * @param domain whose MX receives bounces
   */
  make({ accountId, messageId, recipient }: NamedRecipient, domain: string): string {
    const named = Buffer.alloc(idBytes + 1 + accountTagBytes);
    named.write(messageId.replaceAll('-', ''), 'hex');
    named.writeUInt8(recipient, idBytes);
    accountTagOf(accountId).copy(named, idBytes + 1);
    return `${this.#localParts.write(named)}@${domain}`;
  }

  /** Parses an address, ignoring case; undefined if it wasn't made here. Safe for untrusted input. */
  read(address: string): ReturnPath | undefined {
    const tagged = this.#localParts.readAddress(address);
    const named = tagged ?? this.#earlier.readAddress(address);
    const messageId = named && parseMessageId(formatUuid(named));
    if (named === undefined || messageId === undefined) return undefined;
    const accountTag = tagged?.subarray(idBytes + 1);
    return { messageId, recipient: named.readUInt8(idBytes), accountTag };
  }
}
