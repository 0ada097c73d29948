import type { MasterKey } from '../../base/secrets/master-key.ts';
import type { PurposeKeys } from '../../base/secrets/purpose-keys.ts';
import { seal, sealedColumn, unsealAny } from '../../base/secrets/seal.ts';
import { type AccountId, parseAccountId } from '../../base/values/ids.ts';

const purpose = 'signing secrets';

/** Re-encrypted when the master key is rotated. */
export const sealedSigningSecrets = sealedColumn({
  purpose,
  table: 'api_key',
  rowKey: ['account_id', 'id'],
  column: 'signing_secret',
});

/** The account and the ID of a key that signs. */
export interface SigningKeyName {
  readonly accountId: AccountId;
  readonly id: string;
}

/**
 * The secrets of keys that sign requests (Signature Version 4), bound to their key. Unlike a hash, what is stored must give back
 * the secret, because a signature is checked by repeating it.
 */
export class SigningSecrets {
  readonly #keys: PurposeKeys;

  constructor(key: MasterKey) {
    this.#keys = key.keysFor(purpose);
  }

  seal({ accountId, id }: SigningKeyName, secret: string): Buffer {
    return seal(this.#keys.current, `${accountId}/${id}`, Buffer.from(secret));
  }

  /** @throws Error if it was sealed for another key, or with a master key that isn't loaded */
  open({ accountId, id }: SigningKeyName, sealed: Buffer): string {
    return unsealAny(this.#keys, `${accountId}/${id}`, sealed).toString();
  }
}

/** `ACCOUNT_ID`, with the ID of the key in 32 hexadecimal digits. An account ID may contain underscores. */
const accessKeyIdPattern =
  /^([A-Za-z0-9_-]{1,64})_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/;

/** What a program names its key with, next to a signature. It isn't secret. */
export function accessKeyIdOf({ accountId, id }: SigningKeyName): string {
  return `${accountId}_${id.replaceAll('-', '')}`;
}

/** @returns undefined if it can't be one */
export function parseAccessKeyId(text: string): SigningKeyName | undefined {
  const [, account = '', ...parts] = accessKeyIdPattern.exec(text) ?? [];
  const accountId = parseAccountId(account);
  return accountId && { accountId, id: parts.join('-') };
}
