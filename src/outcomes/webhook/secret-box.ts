import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto';
import type { MasterKey } from '../../base/secrets/master-key.ts';
import type { PurposeKeys } from '../../base/secrets/purpose-keys.ts';
import { openWithAny, type SealedColumn } from '../../base/secrets/seal.ts';

const nonceBytes = 12;
const tagBytes = 16;
const purpose = 'webhook secrets';

/** Columns to re-encrypt when the master key is rotated. */
export const sealedWebhookSecrets: readonly SealedColumn[] = ['secret', 'previous_secret'].map(
  (column) => ({
    purpose,
    table: 'webhook_endpoint',
    rowKey: ['account_id', 'id'],
    column,
    seal: (key, _row, secret) => encrypt(key, secret),
    unseal: (key, _row, sealed) => decrypt(key, sealed),
  }),
);

/** Encrypts secrets for the database with AES-256-GCM, prefixed with a random nonce (NIST SP 800-38D). */
export class SecretBox {
  readonly #keys: PurposeKeys;

  constructor(key: MasterKey) {
    this.#keys = key.keysFor(purpose);
  }

  seal(secret: string): Buffer {
    return encrypt(this.#keys.current, Buffer.from(secret));
  }

  /** @throws if the bytes were not sealed with one of this installation's keys */
  open(bytes: Buffer): string {
    return openWithAny(this.#keys, (key) => decrypt(key, bytes)).toString('utf8');
  }
}

function encrypt(key: KeyObject, secret: Buffer): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const sealed = Buffer.concat([cipher.update(secret), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

function decrypt(key: KeyObject, bytes: Buffer): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes));
  decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
  const secret = decipher.update(bytes.subarray(nonceBytes + tagBytes));
  return Buffer.concat([secret, decipher.final()]);
}
