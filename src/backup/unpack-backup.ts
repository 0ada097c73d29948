import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import type { Decrypter } from 'age-encryption';
import { extract } from 'tar-stream';
import { OperatorError } from '../foundation/errors.ts';
import { decryptWith } from './backup-encryption.ts';
import { type BackupManifest, baseFolder } from './backup-manifest.ts';
import type { BackupRepository } from './backup-repository.ts';
import { sha256 } from './part-writer.ts';

/**
 * Unpacks a base backup into an empty folder, and checks each part first.
 * @throws OperatorError if a part is missing or damaged, or the key doesn't fit
 */
export async function unpackBackup(
  repository: BackupRepository,
  decrypter: Decrypter,
  manifest: BackupManifest,
  folder: string,
): Promise<void> {
  const parts = Readable.from(readParts(repository, manifest), { objectMode: false });
  const decrypted = await decryptWith(() =>
    decrypter.decrypt(Readable.toWeb(parts) as ReadableStream<Uint8Array>),
  );
  const unpacked = extract();
  const written = writeEntries(unpacked, folder);
  await Promise.all([
    written,
    pipeline(Readable.fromWeb(decrypted as never), createZstdDecompress(), unpacked),
  ]);
}

async function* readParts(
  repository: BackupRepository,
  { id, parts }: BackupManifest,
): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    const name = `${baseFolder(id)}/${part.name}`;
    const content = await repository.get(name);
    if (content === undefined)
      throw new OperatorError(`The file ${name} of the backup is missing. Use another backup.`);
    if (content.length !== part.bytes || sha256(content) !== part.sha256)
      throw new OperatorError(
        `The file ${name} of the backup is damaged: its checksum is wrong. Use another backup.`,
      );
    yield content;
  }
}

async function writeEntries(entries: ReturnType<typeof extract>, folder: string): Promise<void> {
  const made = new Set<string>();
  const makeFolder = async (path: string): Promise<void> => {
    if (made.has(path)) return;
    await mkdir(path, { recursive: true, mode: 0o700 });
    made.add(path);
  };
  for await (const entry of entries) {
    const { name, type } = entry.header;
    const path = join(folder, name);
    // The encryption doesn't show who wrote the backup.
    if (!path.startsWith(`${folder}/`) || (type !== 'file' && type !== 'directory'))
      throw new OperatorError(`The backup has an entry that Signalpost doesn’t write: ${name}.`);
    if (type === 'directory') {
      await makeFolder(path);
      entry.resume();
    } else {
      await makeFolder(dirname(path));
      await pipeline(entry, createWriteStream(path, { mode: 0o600, flags: 'wx' }));
    }
  }
}
