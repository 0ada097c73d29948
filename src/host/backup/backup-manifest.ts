import { Ajv } from 'ajv';
import { type Static, Type } from 'typebox';
import { OperatorError } from '../../base/values/errors.ts';
import type { BackupRepository } from './backup-repository.ts';

const ajv = new Ajv();

const manifestSchema = Type.Object({
  format: Type.Literal(1),
  id: Type.String({ pattern: '^[0-9]{8}T[0-9]{6}Z-[0-9a-f]{8}$' }),
  /** The release of Signalpost and the version of PostgreSQL that wrote it. */
  release: Type.String(),
  postgres: Type.String(),
  /** PostgreSQL's identifier of the database, which a restore keeps. */
  system: Type.String(),
  timeline: Type.Integer({ minimum: 1 }),
  startLsn: Type.String(),
  stopLsn: Type.String(),
  /** The first WAL segment that a restore needs; the base backup contains those up to `stopLsn`. */
  firstWal: Type.String({ pattern: '^[0-9A-F]{24}$' }),
  startedAt: Type.String(),
  finishedAt: Type.String(),
  parts: Type.Array(
    Type.Object({
      name: Type.String({ pattern: '^part-[0-9]{6}$' }),
      bytes: Type.Integer({ minimum: 0 }),
      sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    }),
    { minItems: 1 },
  ),
});

/** What a base backup consists of. It is written last, so a base backup without one is incomplete. */
export type BackupManifest = Static<typeof manifestSchema>;

const manifestPattern = /^base\/([^/]+)\/manifest\.json$/;

/** The folder of a base backup inside the repository. */
export function baseFolder(id: string): string {
  return `base/${id}`;
}

/** Writes a manifest, which completes its base backup. */
export async function writeBackupManifest(
  repository: BackupRepository,
  manifest: BackupManifest,
): Promise<void> {
  const text = `${JSON.stringify(manifest, undefined, 2)}\n`;
  await repository.put(`${baseFolder(manifest.id)}/manifest.json`, Buffer.from(text));
}

/**
 * All complete base backups, oldest first.
 * @throws OperatorError if a manifest is damaged
 */
export async function readBackupManifests(repository: BackupRepository): Promise<BackupManifest[]> {
  const manifests: BackupManifest[] = [];
  for (const name of await repository.list('base/')) {
    if (!manifestPattern.test(name)) continue;
    const content = await repository.get(name);
    if (content !== undefined) manifests.push(parseBackupManifest(name, content));
  }
  return manifests.sort((left, right) => (left.finishedAt < right.finishedAt ? -1 : 1));
}

function parseBackupManifest(name: string, content: Uint8Array): BackupManifest {
  let cause: unknown;
  try {
    const manifest: unknown = JSON.parse(Buffer.from(content).toString('utf8'));
    if (ajv.validate<BackupManifest>(manifestSchema, manifest)) return manifest;
  } catch (error) {
    cause = error;
  }
  throw new OperatorError(
    `The file ${name} of the backup is damaged or from a newer release. Restore with the release that wrote it, or remove ${name} to use another backup.`,
    { cause },
  );
}

/** The encrypted size of a base backup. */
export function bytesOf({ parts }: Pick<BackupManifest, 'parts'>): number {
  return parts.reduce((sum, part) => sum + part.bytes, 0);
}
