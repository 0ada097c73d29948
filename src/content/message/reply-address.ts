import type { MasterKey } from '../../base/secrets/master-key.ts';
import { SignedLocalParts } from '../../base/secrets/signed-local-part.ts';
import type { EmailAddress } from '../../base/values/email-address.ts';
import { type AccountId, type MessageId, parseMessageId } from '../../base/values/ids.ts';
import { formatUuid } from '../../base/values/uuid7.ts';
import { accountTagBytes, accountTagOf } from './account-tag.ts';

/** The message that a reply address identifies. */
export interface ReplyAddress {
  readonly messageId: MessageId;
  readonly accountTag: Buffer;
}

const idBytes = 16;

/** Addresses for replies to one message, signed: `r-` and 52 lower-case letters and digits. */
export class ReplyAddresses {
  readonly #localParts: SignedLocalParts;

  constructor(key: MasterKey) {
    this.#localParts = new SignedLocalParts(
      key.keysFor('reply address'),
      'r-',
      idBytes + accountTagBytes,
    );
  }

  /**
   * The address for Reply-To.
   * @param host whose MX brings mail to this service
   */
  make(accountId: AccountId, messageId: MessageId, host: string): EmailAddress {
    const id = Buffer.from(messageId.replaceAll('-', ''), 'hex');
    const local = this.#localParts.write(Buffer.concat([id, accountTagOf(accountId)]));
    return `${local}@${host}` as EmailAddress;
  }

  /** Parses an address, ignoring case; undefined if it wasn't made here. Safe for untrusted input. */
  read(address: string): ReplyAddress | undefined {
    const named = this.#localParts.readAddress(address);
    const messageId = named && parseMessageId(formatUuid(named));
    return named && messageId && { messageId, accountTag: named.subarray(idBytes) };
  }
}
