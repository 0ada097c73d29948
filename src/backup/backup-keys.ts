import type { Decrypter, Encrypter } from 'age-encryption';
import {
  type KeySource,
  keyFileText,
  parseSecret,
  readSecrets,
} from '../foundation/load-master-key.ts';
import { fingerprintOf } from '../foundation/master-key.ts';
import { decryptWith } from './backup-encryption.ts';
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
