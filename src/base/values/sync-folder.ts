import { open } from 'node:fs/promises';

/** Flushes a folder, so that the names of its files survive a crash. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(path, 'r');
  await handle.sync().finally(() => handle.close());
}
