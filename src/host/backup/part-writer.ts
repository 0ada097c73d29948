import { createHash } from 'node:crypto';
import { type BackupManifest, baseFolder } from './backup-manifest.ts';
import type { BackupRepository } from './backup-repository.ts';

/** Memory that a backup needs for its current part; also the size of a retry. */
const partBytes = 16 * 1024 * 1024;

type Part = BackupManifest['parts'][number];

/**
 * Cuts a stream into parts and stores each with its checksum.
 * @returns the parts in order
 */
export async function writeParts(
  repository: BackupRepository,
  id: string,
  stream: AsyncIterable<Uint8Array>,
): Promise<Part[]> {
  const parts: Part[] = [];
  let chunks: Uint8Array[] = [];
  let collected = 0;
  const flush = async (): Promise<void> => {
    const content = Buffer.concat(chunks);
    const name = `part-${String(parts.length + 1).padStart(6, '0')}`;
    await repository.put(`${baseFolder(id)}/${name}`, content);
    parts.push({ name, bytes: content.length, sha256: sha256(content) });
    chunks = [];
    collected = 0;
  };
  for await (const chunk of stream) {
    chunks.push(chunk);
    collected += chunk.length;
    if (collected >= partBytes) await flush();
  }
  if (collected > 0 || parts.length === 0) await flush();
  return parts;
}

/** In hexadecimal. */
export function sha256(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
