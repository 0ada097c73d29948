import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto';
import type { MasterKey } from '../foundation/master-key.ts';

const nonceBytes = 12;
const tagBytes = 16;

/** Encrypts secrets for the database: AES-256-GCM with a random nonce in front (NIST SP 800-38D). */
export class SecretBox {
  readonly #key: KeyObject;

  constructor(key: MasterKey) {
    this.#key = key.derive('webhook secrets');
  }

  seal(secret: string): Buffer {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce);
    const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
  }

  /** @throws where the bytes were not sealed with this key */
  open(bytes: Buffer): string {
    const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, nonceBytes));
    decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
    const secret = decipher.update(bytes.subarray(nonceBytes + tagBytes));
    return Buffer.concat([secret, decipher.final()]).toString('utf8');
  }
}
