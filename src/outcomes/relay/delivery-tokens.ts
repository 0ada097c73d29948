import type { MasterKey } from '../../base/secrets/master-key.ts';
import { SignedMessageNames } from '../../content/message/reply-address.ts';

/**
 * Tokens that the service writes into deliveries and relays return in their reports. They are signed and have the tag of the
 * account: authors of complete messages choose the Message-ID, and could name a message of another account.
 */
export class DeliveryTokens extends SignedMessageNames {
  constructor(key: MasterKey) {
    super(key, 'relay report', 'd-');
  }
}

/** The name of the token wherever a relay takes names and values. Postmark takes at most 20 characters. */
export const tokenName = 'signalpost-message';
/** Header of the token for Amazon SES, which returns headers. */
export const tokenHeader = 'X-Signalpost-Message';
