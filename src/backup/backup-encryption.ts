import { readFile } from 'node:fs/promises';
import { Decrypter, Encrypter } from 'age-encryption';
import { OperatorError } from '../foundation/errors.ts';

/** Encrypts for public keys (age, https://age-encryption.org/v1). */
export function createEncrypter(recipients: readonly string[]): Encrypter {
  const encrypter = new Encrypter();
  for (const recipient of recipients) encrypter.addRecipient(recipient);
  return encrypter;
}

/**
 * Reads the private keys in a file, as `backup create-key` and `age-keygen` write it.
 * @throws OperatorError if it can't be read or has no private key
 */
export async function readIdentityFile(file: string): Promise<Decrypter> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new OperatorError(`The identity file ${file} can’t be read.`, { cause });
  });
  const decrypter = new Decrypter();
  const keys = text.split(/\s+/).filter((word) => word.startsWith('AGE-SECRET-KEY-'));
  try {
    for (const key of keys) decrypter.addIdentity(key);
  } catch (cause) {
    throw new OperatorError(`A private key in ${file} is damaged.`, { cause });
  }
  if (keys.length > 0) return decrypter;
  throw new OperatorError(
    `${file} has no private key (AGE-SECRET-KEY-…). Use the file that \`backup create-key\` wrote.`,
  );
}

/**
 * Decrypts with a readable error for the wrong key.
 * @throws OperatorError if none of the keys fits
 */
export async function decryptWith<Result>(decrypt: () => Promise<Result>): Promise<Result> {
  try {
    return await decrypt();
  } catch (cause) {
    if (!(cause instanceof Error) || !/identity matched/.test(cause.message)) throw cause;
    throw new OperatorError(
      'The backup is encrypted for another key. Use the identity file of the BACKUP_RECIPIENT at the time.',
      { cause },
    );
  }
}
