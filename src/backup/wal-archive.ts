import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import type { Decrypter, Encrypter } from 'age-encryption';
import { OperatorError } from '../foundation/errors.ts';
import { decryptWith } from './backup-encryption.ts';
import type { BackupRepository } from './backup-repository.ts';
import { sha256 } from './part-writer.ts';

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

const storedPattern = /^wal\/[0-9A-F]{8}\/([0-9A-F]{24}|[0-9A-F]{8}\.history)-([0-9a-f]{32})\.age$/;

/**
 * Stores a WAL file. Its name has a checksum, so that storing it again is recognized, and so is another installation's
 * file of the same name.
 * @throws OperatorError if another file of the same name is stored
 */
export async function storeWalFile(
  repository: BackupRepository,
  encrypter: Encrypter,
  name: string,
  content: Uint8Array,
): Promise<void> {
  const prefix = `wal/${name.slice(0, 8)}/${name}-`;
  const digest = sha256(content).slice(0, 32);
  const file = `${prefix}${digest}.age`;
  const [found] = await repository.list(prefix);
  if (found === file) return;
  if (found !== undefined)
    throw new OperatorError(
      `The WAL file ${name} is already in the backup with other content, so two installations use this target. Set BACKUP_TO to another target.`,
    );
  await repository.put(file, await encrypter.encrypt(await compress(content)));
}

/** The stored WAL files by name; more than one file if installations have mixed. */
export async function listWalFiles(
  repository: BackupRepository,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const files = new Map<string, string[]>();
  for (const file of await repository.list('wal/')) {
    const name = storedPattern.exec(file)?.[1];
    if (name !== undefined) files.set(name, [...(files.get(name) ?? []), file]);
  }
  return files;
}

/**
 * Reads a stored WAL file.
 * @throws OperatorError if it is damaged or encrypted for another key
 */
export async function readWalFile(
  repository: BackupRepository,
  decrypter: Decrypter,
  file: string,
): Promise<Uint8Array> {
  const content = await repository.get(file);
  if (content === undefined) throw new OperatorError(`The file ${file} of the backup is missing.`);
  try {
    const plain = await decompress(await decryptWith(() => decrypter.decrypt(content)));
    if (sha256(plain).slice(0, 32) === storedPattern.exec(file)?.[2]) return plain;
  } catch (error) {
    if (error instanceof OperatorError) throw error;
  }
  throw new OperatorError(
    `The file ${file} of the backup is damaged. Restore to an earlier time with --to.`,
  );
}
