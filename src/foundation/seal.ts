import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto';
import type { PurposeKeys } from './purpose-keys.ts';

const nonceBytes = 12;
const tagBytes = 16;

/**
 * Encrypts a secret for the database (AES-256-GCM), bound to its row.
 * @param key 32 bytes from `MasterKey.derive`
 * @param place identifies the row; the secret can't be decrypted for any other
 */
export function seal(key: KeyObject, place: string, secret: Uint8Array): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(place));
  return Buffer.concat([nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()]);
}

/**
 * Decrypts the output of `seal` with any of the keys.
 * @throws Error if no key decrypts it
 */
export function unsealAny(keys: PurposeKeys, place: string, sealed: Buffer): Buffer {
  return openWithAny(keys, (key) => unseal(key, place, sealed));
}

/** Tries the keys in order. @throws the current key's Error if none works */
export function openWithAny<Value>(keys: PurposeKeys, open: (key: KeyObject) => Value): Value {
  try {
    return open(keys.current);
  } catch (error) {
    for (const key of keys.others) {
      try {
        return open(key);
      } catch {
        // Try the next key.
      }
    }
    throw error;
  }
}

/**
 * Decrypts the output of `seal`.
 * @throws Error if the key or row differs, or the data was modified
 */
export function unseal(key: KeyObject, place: string, sealed: Buffer): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceBytes))
    .setAAD(Buffer.from(place))
    .setAuthTag(sealed.subarray(-tagBytes));
  return Buffer.concat([decipher.update(sealed.subarray(nonceBytes, -tagBytes)), decipher.final()]);
}
