import { randomUUID } from 'node:crypto';
import { open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import type { TokenStore, Tokens } from './token-store.ts';

/** An older lock was left by a process that died; new tokens take two requests of at most 30 seconds. */
const staleMs = 120_000;
const retryMs = 50;

/**
 * Keeps the tokens of all processes of one machine in a file that only its user can read.
 * @param path the file; a file beside it, with `.lock` added, is the lock
 */
export function fileStore(path: string): TokenStore {
  const lockPath = `${path}.lock`;
  return {
    async get() {
      try {
        return JSON.parse(await readFile(path, 'utf8')) as Tokens;
      } catch (error) {
        // New tokens replace a file that isn't JSON.
        if (error instanceof SyntaxError || isCode(error, 'ENOENT')) return undefined;
        throw error;
      }
    },
    async set(tokens) {
      // A file that somebody else put there would keep its readers.
      const unfinished = `${path}.${randomUUID()}`;
      await writeFile(unfinished, JSON.stringify(tokens), { mode: 0o600, flag: 'wx' });
      await rename(unfinished, path);
    },
    async lock(work) {
      while (!(await take(lockPath))) await new Promise((resolve) => setTimeout(resolve, retryMs));
      try {
        return await work();
      } finally {
        await rm(lockPath, { force: true });
      }
    },
  };
}

async function take(lockPath: string): Promise<boolean> {
  if (await create(lockPath)) return true;
  if ((await ageOf(lockPath)) > staleMs) await removeStale(lockPath);
  return false;
}

/** Lets one process at a time remove it. Otherwise the second could remove the lock that the first has just taken. */
async function removeStale(lockPath: string): Promise<void> {
  const removing = `${lockPath}.stale`;
  if (!(await create(removing))) {
    if ((await ageOf(removing)) > staleMs) await rm(removing, { force: true });
    return;
  }
  try {
    if ((await ageOf(lockPath)) > staleMs) await rm(lockPath, { force: true });
  } finally {
    await rm(removing, { force: true });
  }
}

/** @returns false if the file exists */
async function create(path: string): Promise<boolean> {
  try {
    await (await open(path, 'wx', 0o600)).close();
    return true;
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false;
    throw error;
  }
}

/** In milliseconds; 0 if there is no such file. */
function ageOf(path: string): Promise<number> {
  return stat(path).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => 0,
  );
}

function isCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException | null)?.code === code;
}
