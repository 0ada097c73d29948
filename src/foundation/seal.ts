import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto';

const nonceBytes = 12;
const tagBytes = 16;

/**
 * Encrypts a secret for the database (AES-256-GCM), bound to the row that it belongs to.
 * @param key 32 bytes of `MasterKey.derive`
 * @param place names the row; the secret opens in no other
 */
export function seal(key: KeyObject, place: string, secret: Uint8Array): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(place));
  return Buffer.concat([nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()]);
}

/**
 * Decrypts what `seal` made.
 * @throws Error where it was made under another key or for another row, or was changed
 */
export function unseal(key: KeyObject, place: string, sealed: Buffer): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceBytes))
    .setAAD(Buffer.from(place))
    .setAuthTag(sealed.subarray(-tagBytes));
  return Buffer.concat([decipher.update(sealed.subarray(nonceBytes, -tagBytes)), decipher.final()]);
}
