import { createHmac, type KeyObject, randomBytes } from 'node:crypto';
import { type AccountId, parseAccountId } from '../../foundation/ids.ts';
import type { MasterKey } from '../../foundation/master-key.ts';

const pattern = /^spk\.([A-Za-z0-9_-]{1,64})\.([A-Za-z0-9_-]{43})$/;

/**
 * Keys for machines: 256 random bits behind the account that they open, so that every look-up names the account first.
 * What is stored is a keyed hash; nobody sees a key a second time.
 */
export class ApiKeys {
  readonly #key: KeyObject;

  constructor(key: MasterKey) {
    this.#key = key.derive('api key');
  }

  make(accountId: AccountId): { readonly text: string; readonly hash: Buffer } {
    const text = `spk.${accountId}.${randomBytes(32).toString('base64url')}`;
    return { text, hash: this.#hash(text) };
  }

  /** Account and hash of what may be a key; undefined where it can be none. */
  read(text: string): { readonly accountId: AccountId; readonly hash: Buffer } | undefined {
    const accountId = parseAccountId(pattern.exec(text)?.[1] ?? '');
    return accountId && { accountId, hash: this.#hash(text) };
  }

  #hash(text: string): Buffer {
    return createHmac('sha256', this.#key).update(text).digest();
  }
}
