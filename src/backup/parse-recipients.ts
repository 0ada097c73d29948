import { createRequire } from 'node:module';
import { OperatorError } from '../foundation/errors.ts';

const require = createRequire(import.meta.url);

/**
 * Reads public keys, separated by commas.
 * @throws OperatorError if one is invalid
 */
export function parseRecipients(name: string, keys: readonly string[]): readonly string[] {
  if (keys.length === 0) return keys;
  // Every command reads the settings, and loading this takes a tenth of a second.
  const { Encrypter } = require('age-encryption') as typeof import('age-encryption');
  for (const key of keys) {
    try {
      new Encrypter().addRecipient(key);
    } catch (cause) {
      const hint = key.startsWith('AGE-SECRET-KEY')
        ? ' This is a private key; keep it away from this machine.'
        : '';
      throw new OperatorError(
        `${name} must be an age public key (age1…). Create a key pair with: signalpost backup create-key FILE.${hint}`,
        { cause },
      );
    }
  }
  return keys;
}
