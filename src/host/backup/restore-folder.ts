import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { OperatorError } from '../../base/values/errors.ts';
import { syncFolder } from '../../base/values/sync-folder.ts';
import {
  killDisplacedDatabase,
  stopLeftoverDatabase,
} from '../embedded-database/clear-leftovers.ts';
import { type DataFolder, dataFolderAt, openDataFolder } from '../embedded-database/data-folder.ts';
import type { EmbeddedLog } from '../embedded-database/database-log.ts';
import { lockDataFolder, type ServiceLock } from '../embedded-database/service-lock.ts';

/** What a restore moves into the data folder. The database comes last. */
const restoredNames = [
  'signalpost.key',
  'signalpost.previous.key',
  'database.password',
  'database.service.password',
  'demo.env',
  'database',
];

/** Files of the lock that a restore holds itself. */
const lockNames = ['service.lock', 'service.lock-journal', 'service.json'];

/**
 * A data folder that is being restored. Everything is built in one folder inside, whose presence keeps a service from
 * starting, so a killed restore is never taken for a complete one.
 */
export class RestoreFolder {
  readonly #folder: DataFolder;
  readonly #lock: ServiceLock;

  private constructor(folder: DataFolder, lock: ServiceLock) {
    this.#folder = folder;
    this.#lock = lock;
  }

  /**
   * Locks a data folder, which must be empty or have an unfinished restore, which is removed.
   * @throws OperatorError otherwise
   */
  static async open(dataDir: string, log: EmbeddedLog): Promise<RestoreFolder> {
    const folder = openDataFolder(dataDir);
    const lock = lockDataFolder(folder);
    try {
      await killDisplacedDatabase(folder);
      if (existsSync(folder.unfinishedRestore)) {
        await stopLeftoverDatabase(dataFolderAt(folder.unfinishedRestore), log);
        for (const name of restoredNames)
          await rm(join(folder.path, name), { recursive: true, force: true });
        // Last, so that a crash in between leaves it.
        await rm(folder.unfinishedRestore, { recursive: true, force: true, maxRetries: 10 });
      }
      const found = (await readdir(folder.path)).find((name) => !lockNames.includes(name));
      if (found !== undefined)
        throw new OperatorError(
          `DATA_DIR ${folder.path} isn’t empty: it has ${found}. Set DATA_DIR to an empty folder, or move the old one away.`,
        );
      await mkdir(folder.unfinishedRestore, { mode: 0o711 });
      await syncFolder(folder.path);
      return new RestoreFolder(folder, lock);
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /** Where to build the restored data folder. */
  get building(): string {
    return this.#folder.unfinishedRestore;
  }

  /** Moves what was built into place. */
  async finish(): Promise<void> {
    const { path, unfinishedRestore } = this.#folder;
    for (const name of restoredNames)
      if (existsSync(join(unfinishedRestore, name)))
        await rename(join(unfinishedRestore, name), join(path, name));
    await syncFolder(path);
    await rm(unfinishedRestore, { recursive: true, force: true, maxRetries: 10 });
    await syncFolder(path);
  }

  release(): void {
    this.#lock.release();
  }
}
