import type { MasterKey } from '../../base/secrets/master-key.ts';
import { SignedLocalParts } from '../../base/secrets/signed-local-part.ts';
import type { EmailAddress } from '../../base/values/email-address.ts';
import { type AccountId, type MessageId, parseMessageId } from '../../base/values/ids.ts';
import { formatUuid } from '../../base/values/uuid7.ts';
import { accountTagBytes, accountTagOf } from './account-tag.ts';

/** The message that a signed name identifies, and the tag of its account. */
export interface NamedMessage {
  readonly messageId: MessageId;
  readonly accountTag: Buffer;
}

const idBytes = 16;

/** Signed names of messages, in lower-case letters and digits. */
export class SignedMessageNames {
  readonly #parts: SignedLocalParts;

  /** @param prefix with its separator, such as `r-` */
  constructor(key: MasterKey, purpose: string, prefix: string) {
    this.#parts = new SignedLocalParts(key.keysFor(purpose), prefix, idBytes + accountTagBytes);
  }

  make(accountId: AccountId, messageId: MessageId): string {
    const id = Buffer.from(messageId.replaceAll('-', ''), 'hex');
    return this.#parts.write(Buffer.concat([id, accountTagOf(accountId)]));
  }

  /** Ignores case; undefined if the name wasn't made here. Safe for untrusted input. */
  read(name: string): NamedMessage | undefined {
    const named = this.#parts.read(name);
    const messageId = named && parseMessageId(formatUuid(named));
    return named && messageId && { messageId, accountTag: named.subarray(idBytes) };
  }
}

/** Addresses for replies to one message, signed: `r-` and 52 lower-case letters and digits. */
export class ReplyAddresses {
  readonly #names: SignedMessageNames;

  constructor(key: MasterKey) {
    this.#names = new SignedMessageNames(key, 'reply address', 'r-');
  }

  /**
   * The address for Reply-To.
   * @param host whose MX brings mail to this service
   */
  make(accountId: AccountId, messageId: MessageId, host: string): EmailAddress {
    return `${this.#names.make(accountId, messageId)}@${host}` as EmailAddress;
  }

  /** Parses an address, ignoring case; undefined if it wasn't made here. Safe for untrusted input. */
  read(address: string): NamedMessage | undefined {
    const at = address.lastIndexOf('@');
    return at === -1 ? undefined : this.#names.read(address.slice(0, at));
  }
}
