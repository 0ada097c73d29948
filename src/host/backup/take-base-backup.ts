import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { createZstdCompress } from 'node:zlib';
import { pack as createPack, type Pack } from 'tar-stream';
import type { KeySource } from '../../base/secrets/load-master-key.ts';
import { OperatorError } from '../../base/values/errors.ts';
import type { DataFolder } from '../embedded-database/data-folder.ts';
import type { ConnectionSettings } from '../embedded-database/database-password.ts';
import { BackupKeys, createEncrypter } from './backup-encryption.ts';
import {
  type BackupManifest,
  baseFolder,
  readBackupManifests,
  writeBackupManifest,
} from './backup-manifest.ts';
import type { BackupRepository } from './backup-repository.ts';
import { type BaseBackupEnd, BaseBackupSession } from './base-backup-store.ts';
import { packBytes, packCluster, packFile } from './pack-cluster.ts';
import { writeParts } from './part-writer.ts';
import { listWalFiles, segmentOfWalFile, walFileName } from './wal-archive.ts';

/** What to back up, and for whom. */
interface BaseBackupJob {
  readonly repository: BackupRepository;
  readonly recipients: readonly string[];
  readonly folder: DataFolder;
  readonly admin: ConnectionSettings;
  readonly keys: KeySource;
  readonly release: string;
  /** Days to keep older backups; undefined: removes none. */
  readonly keepDays: number | undefined;
}

/**
 * Copies a running embedded database, its WAL and its key, encrypted. The copy alone is enough for a restore.
 *
 * The manifest is written last, so an interrupted backup doesn't count; the next one removes it.
 * @throws OperatorError if the target can't be used or another backup is running
 */
export async function takeBaseBackup(job: BaseBackupJob): Promise<BackupManifest> {
  const { repository, recipients, folder } = job;
  const startedAt = new Date().toISOString();
  const id = `${startedAt.replace(/[-:]|\.\d+/g, '')}-${randomBytes(4).toString('hex')}`;
  const session = await BaseBackupSession.open(job.admin);
  try {
    await claimRepository(repository, session.system);
    const encrypter = createEncrypter(recipients);
    await new BackupKeys(repository, encrypter, job.keys).store();
    await session.start(`signalpost ${id}`);
    const pack = createPack();
    const packed = packAll(pack, folder, session);
    // A failure must end the stream that is being read.
    packed.catch((error: Error) => pack.destroy(error));
    const compressed = Readable.from(pack, { objectMode: false }).compose(createZstdCompress());
    const encrypted = await encrypter.encrypt(
      Readable.toWeb(compressed as Readable) as ReadableStream<Uint8Array>,
    );
    const parts = await writeParts(repository, id, encrypted);
    const end = await packed;
    // A rotation may have added a key since.
    await new BackupKeys(repository, encrypter, job.keys).store();
    const manifest: BackupManifest = {
      format: 1,
      id,
      release: job.release,
      postgres: session.postgres,
      system: session.system,
      timeline: end.timeline,
      startLsn: end.startLsn,
      stopLsn: end.stopLsn,
      firstWal: walFileName(end.timeline, end.firstSegment),
      startedAt,
      finishedAt: new Date().toISOString(),
      parts,
    };
    await writeBackupManifest(repository, manifest);
    await expireBackups(repository, job.keepDays);
    return manifest;
  } finally {
    await session.close();
  }
}

/** Files beside the cluster that a restored service needs to connect, and the secrets of the demo. */
const extraFiles = ['database.password', 'database.service.password', 'demo.env'];

async function packAll(
  pack: Pack,
  folder: DataFolder,
  session: BaseBackupSession,
): Promise<BaseBackupEnd> {
  for (const name of extraFiles) await packFile(pack, name, join(folder.path, name));
  await packCluster(pack, folder.cluster);
  const end = await session.stop();
  await packBytes(pack, 'database/backup_label', Buffer.from(end.label));
  for (let segment = end.firstSegment; segment <= end.lastSegment; segment += 1n) {
    const name = `pg_wal/${walFileName(end.timeline, segment)}`;
    await packFile(pack, `database/${name}`, join(folder.cluster, name));
  }
  pack.finalize();
  return end;
}

const ownerFile = 'installation.json';

/**
 * Ties a repository to the first installation that writes to it, because each removes files that it considers its own leftovers.
 * @param system PostgreSQL's identifier of the database, which a restore keeps
 * @throws OperatorError if it belongs to another installation
 */
export async function claimRepository(repository: BackupRepository, system: string): Promise<void> {
  const content = await repository.get(ownerFile);
  if (content === undefined) {
    const text = `${JSON.stringify({ format: 1, system })}\n`;
    return repository.put(ownerFile, Buffer.from(text));
  }
  const found: unknown = JSON.parse(Buffer.from(content).toString('utf8'));
  if (typeof found === 'object' && found !== null && 'system' in found && found.system === system)
    return;
  throw new OperatorError(
    'The backup folder or bucket belongs to another installation. Use one for each installation.',
  );
}

const dayMs = 24 * 60 * 60 * 1_000;

/**
 * Removes incomplete base backups, and with `keepDays` the complete ones and WAL that no restore to a time in these days
 * needs. Only while no backup is running.
 * @param keepDays undefined: removes no complete backup
 */
export async function expireBackups(
  repository: BackupRepository,
  keepDays: number | undefined,
  now = Date.now(),
): Promise<void> {
  const manifests = await readBackupManifests(repository);
  const kept = keepDays === undefined ? manifests : findNeeded(manifests, now - keepDays * dayMs);
  await removeBases(repository, new Set(kept.map(({ id }) => baseFolder(id))));
  const first = kept
    .map(({ firstWal }) => segmentOfWalFile(firstWal) ?? 0n)
    .reduce<bigint | undefined>(
      (least, segment) => (least === undefined || segment < least ? segment : least),
      undefined,
    );
  if (keepDays === undefined || first === undefined) return;
  for (const [name, files] of await listWalFiles(repository)) {
    // Segment numbers grow across timelines. Histories are small, and restores follow them.
    const segment = segmentOfWalFile(name);
    if (segment !== undefined && segment < first)
      for (const file of files) await repository.remove(file);
  }
}

/** Those that finished after a time, and the one before them, which a restore to that time starts from. */
function findNeeded(manifests: readonly BackupManifest[], since: number): BackupManifest[] {
  const later = manifests.findIndex(({ finishedAt }) => Date.parse(finishedAt) > since);
  return manifests.slice(later === -1 ? -1 : Math.max(0, later - 1));
}

async function removeBases(repository: BackupRepository, kept: ReadonlySet<string>): Promise<void> {
  const names = (await repository.list('base/')).filter(
    (name) => !kept.has(name.split('/').slice(0, 2).join('/')),
  );
  // Manifests first, so that a crash leaves no base backup that looks complete.
  const isManifest = (name: string) => name.endsWith('/manifest.json');
  for (const name of [...names.filter(isManifest), ...names.filter((name) => !isManifest(name))])
    await repository.remove(name);
  await repository.sweep('base/');
}
