import { readdir, readFile, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import type { Decrypter, Encrypter } from 'age-encryption';
import { OperatorError } from '../../base/values/errors.ts';
import type { DataFolder } from '../embedded-database/data-folder.ts';
import { type BackupKeys, decryptWith } from './backup-encryption.ts';
import type { BackupRepository } from './backup-repository.ts';
import { sha256 } from './part-writer.ts';

/** PostgreSQL's default size of a WAL segment, which initdb uses. */
const segmentBytes = 16n * 1024n * 1024n;
const segmentsPerLog = 0x1_0000_0000n / segmentBytes;

/** A position in the WAL, such as `0/2000028`. */
export function parseLsn(text: string): bigint {
  const [high = '', low = ''] = text.split('/');
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

/** The number of a position's segment. */
export function segmentOfLsn(lsn: bigint): bigint {
  return lsn / segmentBytes;
}

/** The file name of a segment: timeline, log and segment in hexadecimal. */
export function walFileName(timeline: number, segment: bigint): string {
  const hex = (part: number | bigint) => part.toString(16).toUpperCase().padStart(8, '0');
  return hex(timeline) + hex(segment / segmentsPerLog) + hex(segment % segmentsPerLog);
}

/** The segment number of a WAL file; undefined for other files. */
export function segmentOfWalFile(name: string): bigint | undefined {
  const [, log, segment] = /^[0-9A-F]{8}([0-9A-F]{8})([0-9A-F]{8})$/.exec(name) ?? [];
  if (log === undefined || segment === undefined) return undefined;
  return BigInt(`0x${log}`) * segmentsPerLog + BigInt(`0x${segment}`);
}

/** Whether a file in the WAL folder is worth keeping: a complete segment, or the history of a timeline. */
function isWalFile(name: string): boolean {
  return /^(?:[0-9A-F]{24}|[0-9A-F]{8}\.history)$/.test(name);
}

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

const storedPattern = /^wal\/[0-9A-F]{8}\/([0-9A-F]{24}|[0-9A-F]{8}\.history)-([0-9a-f]{32})\.age$/;

/**
 * Stores a WAL file. A checksum in its name identifies repeats, and another installation's files of the same name.
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

/** Below this, waiting WAL is deleted before a full disk stops the service. */
const minFreeBytes = 512 * 1024 ** 2;
/** Deleting fewer files wouldn't help. */
const minFilesToRemove = 8;

const unfinishedName = /\.unfinished$/;

/** Stores the WAL that PostgreSQL puts into the spool folder. */
export class WalArchiver {
  readonly #folder: DataFolder;
  readonly #repository: BackupRepository;
  readonly #encrypter: Encrypter;
  readonly #keys: BackupKeys;

  constructor(
    folder: DataFolder,
    repository: BackupRepository,
    encrypter: Encrypter,
    keys: BackupKeys,
  ) {
    this.#folder = folder;
    this.#repository = repository;
    this.#encrypter = encrypter;
    this.#keys = keys;
  }

  /**
   * Stores and then removes each file in the spool folder, oldest first. Also stores the timelines of restores
   * before archiving began, because the next restore must not reuse their numbers.
   */
  async storeAll(): Promise<void> {
    for (const name of await this.#spooled()) {
      const file = join(this.#folder.walSpool, name);
      // Keys first: WAL may need them.
      await this.#keys.store();
      await storeWalFile(this.#repository, this.#encrypter, name, await readFile(file));
      await rm(file);
    }
  }

  /** Stores the histories of all timelines of this database. */
  async storeTimelines(): Promise<void> {
    const folder = join(this.#folder.cluster, 'pg_wal');
    for (const name of await readdir(folder))
      if (name.endsWith('.history'))
        await storeWalFile(
          this.#repository,
          this.#encrypter,
          name,
          await readFile(join(folder, name)),
        );
  }

  /** Counts files waiting in the spool folder, or for PostgreSQL to put them there, and since when. */
  async countWaiting(): Promise<{ readonly waiting: number; readonly since: Date | undefined }> {
    const status = join(this.#folder.cluster, 'pg_wal', 'archive_status');
    const ready = (await readdir(status)).filter((name) => name.endsWith('.ready'));
    const files = [
      ...(await this.#spooled()).map((name) => join(this.#folder.walSpool, name)),
      ...ready.map((name) => join(status, name)),
    ];
    const times = await Promise.all(
      files.map((file) =>
        stat(file).then(
          ({ mtimeMs }) => mtimeMs,
          () => Number.POSITIVE_INFINITY,
        ),
      ),
    );
    const oldest = Math.min(...times);
    return {
      waiting: files.length,
      since: Number.isFinite(oldest) ? new Date(oldest) : undefined,
    };
  }

  /**
   * Removes waiting files if the disk is nearly full. The service keeps running, and a new base backup must follow.
   * @returns the number of removed files
   */
  async removeIfDiskFull(): Promise<number> {
    const names = await this.#spooled();
    if (names.length < minFilesToRemove) return 0;
    const { bavail, bsize } = await statfs(this.#folder.walSpool);
    if (bavail * bsize >= minFreeBytes) return 0;
    for (const name of names) await rm(join(this.#folder.walSpool, name), { force: true });
    return names.length;
  }

  /** The files to store. Removes others, such as labels of base backups, which are stored with these. */
  async #spooled(): Promise<string[]> {
    const names = await readdir(this.#folder.walSpool);
    for (const name of names)
      if (!isWalFile(name) && !unfinishedName.test(name))
        await rm(join(this.#folder.walSpool, name), { force: true });
    // Histories are shorter, and come before the segments of their timeline.
    return names.filter(isWalFile).sort((left, right) => {
      if (left.length !== right.length) return left.length - right.length;
      return left < right ? -1 : 1;
    });
  }
}
