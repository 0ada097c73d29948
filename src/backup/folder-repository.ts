import { mkdir, open, readdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf } from '../foundation/database/sqlstate.ts';
import { OperatorError } from '../foundation/errors.ts';
import type { BackupRepository } from './backup-repository.ts';

/** Suffix of files that are being written; a crash leaves them behind. */
const unfinishedSuffix = '.unfinished';

/** Keeps backups in a folder that only its owner can enter. */
export class FolderRepository implements BackupRepository {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  async put(name: string, content: Uint8Array): Promise<void> {
    const file = join(this.#path, name);
    const unfinished = `${file}${unfinishedSuffix}`;
    try {
      await makeDurableFolder(dirname(file));
      await writeFile(unfinished, content, { mode: 0o600, flush: true });
      await rename(unfinished, file);
      await syncFolder(dirname(file));
    } catch (error) {
      await rm(unfinished, { force: true }).catch(() => undefined);
      throw this.#problem(error);
    }
  }

  async get(name: string): Promise<Uint8Array | undefined> {
    try {
      return await readFile(join(this.#path, name));
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw this.#problem(error);
    }
  }

  async list(prefix: string): Promise<string[]> {
    const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1);
    try {
      const found = await readdir(join(this.#path, folder), {
        recursive: true,
        withFileTypes: true,
      });
      return found
        .filter((entry) => entry.isFile() && !entry.name.endsWith(unfinishedSuffix))
        .map((entry) => join(entry.parentPath, entry.name).slice(this.#path.length + 1))
        .filter((name) => name.startsWith(prefix))
        .sort();
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return [];
      throw this.#problem(error);
    }
  }

  async remove(name: string): Promise<void> {
    const file = join(this.#path, name);
    await rm(file, { force: true });
    await rm(`${file}${unfinishedSuffix}`, { force: true });
    // Only succeeds if the folder is empty.
    await rmdir(dirname(file)).catch(() => undefined);
  }

  async sweep(prefix: string): Promise<void> {
    const top = join(this.#path, prefix);
    const found = await readdir(top, { recursive: true, withFileTypes: true }).catch(() => []);
    for (const { name, parentPath } of found)
      if (name.endsWith(unfinishedSuffix)) await rm(join(parentPath, name), { force: true });
    // Only succeeds for empty ones.
    for (const entry of found)
      if (entry.isDirectory())
        await rmdir(join(entry.parentPath, entry.name)).catch(() => undefined);
  }

  #problem(error: unknown): unknown {
    const reason = codeOf(error);
    const advice =
      reason === 'ENOSPC' || reason === 'EDQUOT'
        ? 'its disk is full; free some space'
        : reason === 'EACCES' || reason === 'EPERM' || reason === 'EROFS'
          ? 'this user can’t write there; change the owner of the folder'
          : undefined;
    if (advice === undefined) return error;
    return new OperatorError(`The backup folder ${this.#path} can’t be used: ${advice}.`, {
      cause: error,
    });
  }
}

/** Creates a folder and its parents with mode 0700, so that their names survive a crash. */
async function makeDurableFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (
    let folder = dirname(path);
    folder.length >= dirname(first).length;
    folder = dirname(folder)
  ) {
    await syncFolder(folder);
    if (folder === dirname(folder)) return;
  }
}

/** Flushes a folder, so that the names of its files survive a crash. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(path, 'r');
  await handle.sync().finally(() => handle.close());
}
