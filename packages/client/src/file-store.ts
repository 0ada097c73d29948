import { open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import type { TokenStore, Tokens } from './token-store.ts';

/** An older lock was left by a process that died; refreshing takes at most 30 seconds. */
const staleMs = 60_000;
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
      const unfinished = `${path}.${process.pid}`;
      await writeFile(unfinished, JSON.stringify(tokens), { mode: 0o600 });
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
  try {
    await (await open(lockPath, 'wx', 0o600)).close();
    return true;
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
    const age = await stat(lockPath).then(
      ({ mtimeMs }) => Date.now() - mtimeMs,
      () => 0,
    );
    if (age > staleMs) await rm(lockPath, { force: true });
    return false;
  }
}

function isCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException | null)?.code === code;
}
