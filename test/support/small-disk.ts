import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const size = '4g';

/** A folder for a database. */
export interface SmallDisk {
  readonly path: string;
  /** True if it is a separate file system that can be filled up. */
  readonly canFill: boolean;
  /** After this, every write that needs another block fails with ENOSPC. */
  fill(): Promise<void>;
  /** Makes space available again. */
  free(): void;
  remove(): Promise<void>;
}

/** A folder on a separate tmpfs, which only root may mount. For other users, an ordinary folder that is never full. */
export async function openSmallDisk(): Promise<SmallDisk> {
  const path = await mkdtemp(join(tmpdir(), 'signalpost-disk-'));
  // PostgreSQL runs as another user if this process is root.
  await chmod(path, 0o711);
  const canFill = mount('-t', 'tmpfs', '-o', `size=${size},mode=0711`, 'signalpost-disk', path);
  return {
    path,
    canFill,
    async fill() {
      const { blocks, bfree, bsize } = await statfs(path);
      const used = Math.max(blocks - bfree, 1) * bsize;
      mount('-o', `remount,size=${used}`, path);
    },
    free: () => void mount('-o', `remount,size=${size}`, path),
    async remove() {
      if (canFill) execFileSync('umount', ['--lazy', path], { stdio: 'ignore' });
      await rm(path, { recursive: true, force: true });
    },
  };
}

function mount(...args: string[]): boolean {
  try {
    execFileSync('mount', args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
