import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto';
import type { PurposeKeys } from './purpose-keys.ts';

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
 * Decrypts what `seal` made with any of the keys.
 * @throws Error where no key opens it
 */
export function unsealAny(keys: PurposeKeys, place: string, sealed: Buffer): Buffer {
  return openWithAny(keys, (key) => unseal(key, place, sealed));
}

/** What the first key opens that can. @throws Error of the current key where none can */
export function openWithAny<Value>(keys: PurposeKeys, open: (key: KeyObject) => Value): Value {
  try {
    return open(keys.current);
  } catch (error) {
    for (const key of keys.others) {
      try {
        return open(key);
      } catch {
        // The next one may.
      }
    }
    throw error;
  }
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
