import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto';
import type { MasterKey } from '../../base/secrets/master-key.ts';
import type { PurposeKeys } from '../../base/secrets/purpose-keys.ts';
import { openWithAny, type SealedColumn } from '../../base/secrets/seal.ts';

const nonceBytes = 12;
const tagBytes = 16;
const purpose = 'webhook secrets';
/** Its secrets are sealed as releases without formats seal them. */
const ownFormat = 'signalpost';

/** Columns to re-encrypt when the master key is rotated. */
export const sealedWebhookSecrets: readonly SealedColumn[] = ['secret', 'previous_secret'].map(
  (column) => ({
    purpose,
    table: 'webhook_endpoint',
    // The format doesn't identify the row, but its secret is bound to it.
    rowKey: ['account_id', 'id', 'format'],
    column,
    seal: (key, [, , format], secret) => encrypt(key, secret, format),
    unseal: (key, [, , format], sealed) => decrypt(key, sealed, format),
  }),
);

/**
 * Encrypts secrets for the database with AES-256-GCM, prefixed with a random nonce (NIST SP 800-38D). A secret is bound to the
 * format of its endpoint, so a process of a release without formats can't open it, and sends nothing in the wrong one.
 */
export class SecretBox {
  readonly #keys: PurposeKeys;

  constructor(key: MasterKey) {
    this.#keys = key.keysFor(purpose);
  }

  seal(secret: string, format: string = ownFormat): Buffer {
    return encrypt(this.#keys.current, Buffer.from(secret), format);
  }

  /** @throws if the bytes were not sealed with one of this installation's keys for this format */
  open(bytes: Buffer, format: string = ownFormat): string {
    return openWithAny(this.#keys, (key) => decrypt(key, bytes, format)).toString('utf8');
  }
}

function encrypt(key: KeyObject, secret: Buffer, format = ownFormat): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(boundTo(format));
  const sealed = Buffer.concat([cipher.update(secret), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

function decrypt(key: KeyObject, bytes: Buffer, format = ownFormat): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes));
  decipher.setAAD(boundTo(format));
  decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
  const secret = decipher.update(bytes.subarray(nonceBytes + tagBytes));
  return Buffer.concat([secret, decipher.final()]);
}

/** Nothing for our own format. */
function boundTo(format: string): Buffer {
  return Buffer.from(format === ownFormat ? '' : format);
}
