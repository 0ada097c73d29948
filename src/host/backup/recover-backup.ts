import { createWriteStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import type { Decrypter } from 'age-encryption';
import { extract } from 'tar-stream';
import { openDatabase } from '../../base/database/open-database.ts';
import { readKeyState } from '../../base/secrets/key-rotation-store.ts';
import { writeKeyFiles } from '../../base/secrets/load-master-key.ts';
import { OperatorError } from '../../base/values/errors.ts';
import type { Log } from '../../base/values/log.ts';
import type { ClusterSetting } from '../embedded-database/cluster-settings.ts';
import { type DataFolder, openDataFolder } from '../embedded-database/data-folder.ts';
import { chooseDatabaseUser } from '../embedded-database/database-user.ts';
import type { EmbeddedDatabase } from '../embedded-database/embedded-database.ts';
import { startEmbeddedDatabase } from '../embedded-database/start-embedded-database.ts';
import { decryptWith, readBackupKey } from './backup-encryption.ts';
import { type BackupManifest, baseFolder } from './backup-manifest.ts';
import type { BackupRepository } from './backup-repository.ts';
import { type ChosenBackup, chooseBackup } from './choose-backup.ts';
import { sha256 } from './part-writer.ts';
import { readLastReplayedTime } from './recovery-store.ts';
import { WalSupply } from './wal-supply.ts';

/** What to recover, and where. */
export interface RecoveryJob {
  readonly repository: BackupRepository;
  readonly decrypter: Decrypter;
  /** An empty folder. */
  readonly folder: string;
  /** The time to recover to; undefined: as far as the WAL goes. */
  readonly to: Date | undefined;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

/** A recovered database, which runs, and its key files. */
export interface RecoveredBackup {
  readonly embedded: EmbeddedDatabase;
  readonly manifest: BackupManifest;
  /** When the last change that was recovered was committed. */
  readonly recoveredTo: Date;
}

/**
 * Unpacks a backup, replays the WAL up to a time, and writes the key files that fit the database then.
 * @throws OperatorError if the backup is missing, incomplete or damaged, or the key doesn't fit
 */
export async function recoverBackup(job: RecoveryJob): Promise<RecoveredBackup> {
  const { repository, decrypter } = job;
  const chosen = await chooseBackup(repository, decrypter, job.to);
  if (chosen.hasGap)
    job.log.warn(
      {},
      'the backup lacks some WAL, for example because the disk was full; changes after that can only be restored from a later base backup',
    );
  const folder = openDataFolder(job.folder);
  await unpackBackup(repository, decrypter, chosen.manifest, folder.path);
  await writeFile(join(folder.cluster, 'recovery.signal'), '', { mode: 0o600, flush: true });
  const embedded = await replayWal(job, folder, chosen);
  try {
    const replayed = await readLastReplayedTime(embedded.admin);
    await restoreKeys(job, embedded, folder);
    const recoveredTo = replayed ?? new Date(chosen.manifest.finishedAt);
    return { embedded, manifest: chosen.manifest, recoveredTo };
  } catch (error) {
    await embedded.stop();
    throw error;
  }
}

/** PostgreSQL's error if the WAL ends before the time, also if nothing was changed since. */
const endedEarly = /recovery ended before configured recovery target was reached/;

async function replayWal(
  job: RecoveryJob,
  folder: DataFolder,
  chosen: ChosenBackup,
): Promise<EmbeddedDatabase> {
  if (job.to === undefined) return await startRecovery(job, folder, chosen, []);
  const target: ClusterSetting[] = [
    // PostgreSQL knows no zone names yet when it reads this.
    ['recovery_target_time', job.to.toISOString().replace('T', ' ').replace('Z', '+00')],
    ['recovery_target_action', 'promote'],
  ];
  try {
    return await startRecovery(job, folder, chosen, target);
  } catch (error) {
    if (!(error instanceof OperatorError) || !endedEarly.test(error.message)) throw error;
    if (chosen.hasGap)
      throw new OperatorError(
        'The backup lacks WAL before this time. Restore to an earlier time with --to, or to a time after the next base backup (see `backup list`).',
        { cause: error },
      );
    job.log.warn({}, 'the backup has no changes after this time; restoring all of it');
    return await startRecovery(job, folder, chosen, []);
  }
}

async function startRecovery(
  { repository, decrypter, log }: RecoveryJob,
  folder: DataFolder,
  chosen: ChosenBackup,
  target: readonly ClusterSetting[],
): Promise<EmbeddedDatabase> {
  const user = chooseDatabaseUser(folder);
  const path = join(folder.path, 'wal-supply');
  const supply = new WalSupply(path, user, repository, decrypter, chosen);
  const failed = new AbortController();
  await supply.start((error) => failed.abort(error));
  try {
    return await startEmbeddedDatabase({
      dataDir: folder.path,
      log,
      signal: failed.signal,
      moreSettings: [
        ['restore_command', supply.command],
        // Ready only once it is promoted.
        ['hot_standby', 'off'],
        ...target,
      ],
    });
  } finally {
    await supply.stop();
  }
}

/** The keys are those of the recovered time, which may be before or after a rotation. */
async function restoreKeys(
  { repository, decrypter }: RecoveryJob,
  { settings }: EmbeddedDatabase,
  folder: DataFolder,
): Promise<void> {
  const database = openDatabase(settings, { maxConnections: 1 });
  try {
    const { current, previous } = await readKeyState(database);
    if (current === null) return;
    const find = async (fingerprint: string): Promise<Buffer> => {
      const secret = await readBackupKey(repository, decrypter, fingerprint);
      if (secret !== undefined) return secret;
      throw new OperatorError(
        `The backup lacks the master key ${fingerprint} of its database. Restore to another time with --to.`,
      );
    };
    await writeKeyFiles(
      folder.path,
      await find(current),
      previous === null ? undefined : await find(previous),
    );
  } finally {
    await database.close();
  }
}

/**
 * Unpacks a base backup into an empty folder, and checks each part first.
 * @throws OperatorError if a part is missing or damaged, or the key doesn't fit
 */
async function unpackBackup(
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
