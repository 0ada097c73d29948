import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { createZstdCompress } from 'node:zlib';
import { pack as createPack, type Pack } from 'tar-stream';
import type { DataFolder } from '../embedded-database/data-folder.ts';
import type { ConnectionSettings } from '../embedded-database/database-password.ts';
import type { KeySource } from '../foundation/load-master-key.ts';
import { createEncrypter } from './backup-encryption.ts';
import { BackupKeys } from './backup-keys.ts';
import { type BackupManifest, writeBackupManifest } from './backup-manifest.ts';
import { claimRepository } from './backup-owner.ts';
import type { BackupRepository } from './backup-repository.ts';
import { type BaseBackupEnd, BaseBackupSession } from './base-backup-store.ts';
import { expireBackups } from './expire-backups.ts';
import { packBytes, packCluster, packFile } from './pack-cluster.ts';
import { writeParts } from './part-writer.ts';
import { walFileName } from './wal-names.ts';

/** What to back up, and for whom. */
export interface BaseBackupJob {
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
