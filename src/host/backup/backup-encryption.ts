import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Decrypter, Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import { codeOf } from '../../base/database/sqlstate.ts';
import {
  type KeySource,
  keyFileText,
  parseSecret,
  readSecrets,
} from '../../base/secrets/load-master-key.ts';
import { fingerprintOf } from '../../base/secrets/master-key.ts';
import { OperatorError } from '../../base/values/errors.ts';
import type { BackupRepository } from './backup-repository.ts';

/**
 * Stores the master keys of an installation beside its backups, encrypted. Called before anything that needs them is
 * stored, so that no backup lacks its key, also after a rotation.
 */
export class BackupKeys {
  readonly #repository: BackupRepository;
  readonly #encrypter: Encrypter;
  readonly #source: KeySource;
  #stored: Set<string> | undefined;

  constructor(repository: BackupRepository, encrypter: Encrypter, source: KeySource) {
    this.#repository = repository;
    this.#encrypter = encrypter;
    this.#source = source;
  }

  /** Stores keys that aren't stored yet. */
  async store(): Promise<void> {
    this.#stored ??= new Set(await this.#repository.list('keys/'));
    for (const secret of await readSecrets(this.#source)) {
      const name = keyName(fingerprintOf(secret));
      if (this.#stored.has(name)) continue;
      await this.#repository.put(name, await this.#encrypter.encrypt(keyFileText(secret)));
      this.#stored.add(name);
    }
  }
}

/**
 * Reads the master key with a fingerprint.
 * @returns undefined if it isn't stored
 */
export async function readBackupKey(
  repository: BackupRepository,
  decrypter: Decrypter,
  fingerprint: string,
): Promise<Buffer | undefined> {
  const name = keyName(fingerprint);
  const content = await repository.get(name);
  if (content === undefined) return undefined;
  return parseSecret(await decryptWith(() => decrypter.decrypt(content, 'text')), name);
}

function keyName(fingerprint: string): string {
  return `keys/${fingerprint}.age`;
}

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

/**
 * Creates a key pair and writes it to a new file that only this user can read.
 * @returns the public key
 * @throws OperatorError if the file exists or can't be written
 */
export async function createIdentity(file: string): Promise<string> {
  const identity = await generateX25519Identity();
  const recipient = await identityToRecipient(identity);
  const text = `# created: ${new Date().toISOString()}\n# public key: ${recipient}\n${identity}\n`;
  try {
    await writeFile(file, text, { mode: 0o600, flag: 'wx', flush: true });
  } catch (cause) {
    const why =
      codeOf(cause) === 'EEXIST' ? 'already exists' : `can’t be written (${codeOf(cause)})`;
    throw new OperatorError(`${file} ${why}. Choose another file.`, { cause });
  }
  return recipient;
}

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
