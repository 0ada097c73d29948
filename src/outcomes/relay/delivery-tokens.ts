import type { MasterKey } from '../../base/secrets/master-key.ts';
import { SignedLocalParts } from '../../base/secrets/signed-local-part.ts';
import { type AccountId, type MessageId, parseMessageId } from '../../base/values/ids.ts';
import { formatUuid } from '../../base/values/uuid7.ts';
import { accountTagBytes, accountTagOf } from '../../content/message/account-tag.ts';

const idBytes = 16;

/**
 * Tokens that the service writes into deliveries and relays return in their reports. They are signed and have the tag of the
 * account: authors of complete messages choose the Message-ID, and could name a message of another account.
 */
export class DeliveryTokens {
  readonly #parts: SignedLocalParts;

  constructor(key: MasterKey) {
    this.#parts = new SignedLocalParts(
      key.keysFor('relay report'),
      'd-',
      idBytes + accountTagBytes,
    );
  }

  make(accountId: AccountId, messageId: MessageId): string {
    const id = Buffer.from(messageId.replaceAll('-', ''), 'hex');
    return this.#parts.write(Buffer.concat([id, accountTagOf(accountId)]));
  }

  /** Undefined if the token wasn't made here. Safe for untrusted input. */
  read(token: string): { readonly messageId: MessageId; readonly accountTag: Buffer } | undefined {
    const named = this.#parts.read(token);
    const messageId = named && parseMessageId(formatUuid(named));
    if (named === undefined || messageId === undefined) return undefined;
    return { messageId, accountTag: named.subarray(idBytes) };
  }
}

/** The name of the token wherever a relay takes names and values. Postmark takes at most 20 characters. */
export const tokenName = 'signalpost-message';
/** Header of the token for Amazon SES, which returns headers. */
export const tokenHeader = 'X-Signalpost-Message';
