import { readdir, readFile, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Encrypter } from 'age-encryption';
import type { DataFolder } from '../embedded-database/data-folder.ts';
import type { BackupKeys } from './backup-keys.ts';
import type { BackupRepository } from './backup-repository.ts';
import { storeWalFile } from './wal-archive.ts';
import { isWalFile } from './wal-names.ts';

/** Below this, waiting WAL is deleted before a full disk stops the service. */
const minFreeBytes = 512 * 1024 ** 2;
/** Deleting fewer files wouldn't help. */
const minFilesToRemove = 8;

const unfinishedName = /\.unfinished$/;

/** Stores the WAL that PostgreSQL has put into the spool folder. */
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
      // Before the WAL that may need it.
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

  /** The number of files waiting in the spool folder, or for PostgreSQL to put them there, and since when. */
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
