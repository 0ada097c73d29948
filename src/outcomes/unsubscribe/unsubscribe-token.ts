import type { MasterKey } from '../../base/secrets/master-key.ts';
import { SealedTokens } from '../../base/secrets/sealed-tokens.ts';
import {
  ByteReader,
  readMessage,
  type TrackedMessage,
  writeMessage,
} from '../../base/values/byte-fields.ts';
import type { EmailAddress } from '../../base/values/email-address.ts';

/** The address a token unsubscribes, and from which account. */
export interface Unsubscription extends TrackedMessage {
  readonly address: EmailAddress;
}

const maxTextLength = 1_000;

/** Tokens of unsubscribe links. They contain the encrypted address, so they work after the message is erased. */
export class UnsubscribeTokens {
  readonly #tokens: SealedTokens;

  constructor(key: MasterKey) {
    this.#tokens = new SealedTokens(
      key.keysFor('unsubscribe cipher'),
      key.keysFor('unsubscribe hash'),
      maxTextLength,
    );
  }

  make(unsubscription: Unsubscription): string {
    return this.#tokens.make(writeMessage(unsubscription).text(unsubscription.address).finish());
  }

  /** A token's data; undefined if it wasn't made here. */
  read(text: string): Unsubscription | undefined {
    const content = this.#tokens.read(text);
    if (content === undefined) return undefined;
    const reader = new ByteReader(content);
    return { ...readMessage(reader), address: reader.text() as EmailAddress };
  }
}
