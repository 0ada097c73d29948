import { createHmac, type KeyObject, randomBytes } from 'node:crypto';
import { type AccountId, parseAccountId } from '../../foundation/ids.ts';
import type { MasterKey } from '../../foundation/master-key.ts';
import type { PurposeKeys } from '../../foundation/purpose-keys.ts';

const pattern = /^spk\.([A-Za-z0-9_-]{1,64})\.([A-Za-z0-9_-]{43})$/;

/** What a key's text says. */
export interface ReadApiKey {
  readonly accountId: AccountId;
  readonly hash: Buffer;
  /** As it may be stored while the master key is being rotated. */
  readonly olderHashes: readonly Buffer[];
}

/**
 * Keys for machines: 256 random bits behind the account that they open, so that every look-up names the account first.
 * What is stored is a keyed hash; nobody sees a key a second time.
 */
export class ApiKeys {
  readonly #keys: PurposeKeys;

  constructor(key: MasterKey) {
    this.#keys = key.keysFor('api key');
  }

  make(accountId: AccountId): { readonly text: string; readonly hash: Buffer } {
    const text = `spk.${accountId}.${randomBytes(32).toString('base64url')}`;
    return { text, hash: keyedHash(this.#keys.current, text) };
  }

  /** Account and hash of what may be a key; undefined where it can be none. */
  read(text: string): ReadApiKey | undefined {
    const accountId = parseAccountId(pattern.exec(text)?.[1] ?? '');
    const { current, others } = this.#keys;
    return (
      accountId && {
        accountId,
        hash: keyedHash(current, text),
        olderHashes: others.map((key) => keyedHash(key, text)),
      }
    );
  }
}

function keyedHash(key: KeyObject, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
