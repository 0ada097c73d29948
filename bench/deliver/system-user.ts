import { execFile } from 'node:child_process';
import { chown } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Gives files to a user of this machine. */
export async function chownTo(user: string, paths: readonly string[]): Promise<void> {
  const [uid, gid] = await Promise.all([run('id', ['-u', user]), run('id', ['-g', user])]);
  for (const path of paths) await chown(path, Number(uid.stdout), Number(gid.stdout));
}

/** True where a program can be run by its name. */
export async function isInstalled(program: string): Promise<boolean> {
  return run('sh', ['-c', 'command -v "$1"', 'sh', program]).then(
    () => true,
    () => false,
  );
}
