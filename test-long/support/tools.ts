import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const folder = join(import.meta.dirname, '..');
const modules = join(folder, 'node_modules');

/**
 * Installs the packages of test-long/package.json, which the root doesn't have: frameworks, runtimes and checkers.
 * @returns the folder of a package
 */
export async function installTools(): Promise<(name: string) => string> {
  if (!(await isInstalled()))
    await run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, maxBuffer: 50_000_000 });
  return (name) => join(modules, name);
}

/** npm writes this file last. */
async function isInstalled(): Promise<boolean> {
  const written = join(modules, '.package-lock.json');
  if (!existsSync(written)) return false;
  const lock = await stat(join(folder, 'package-lock.json'));
  return (await stat(written)).mtimeMs >= lock.mtimeMs;
}
