import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The subject of the commit of the release before this one. Until 0.2.0 is released, of the one from which on releases
 * run beside each other.
 */
const subject = 'Let processes of a release run beside those of the next one';

/** Packages that only it uses, in the version of its lock. */
const onlyOld = ['graphile-worker@0.17.3'];

const root = join(import.meta.dirname, '../..');

function git(...args: string[]): Buffer {
  return execFileSync('git', args, { cwd: root, maxBuffer: 256 * 1024 * 1024 });
}

/**
 * Unpacks the release before into a folder, with the installed packages of this one, and those that only it uses.
 * @returns where it is; undefined in a clone without history
 */
export function unpackReleaseBefore(folder: string): string | undefined {
  if (String(git('rev-parse', '--is-shallow-repository')).trim() === 'true') return undefined;
  const commit = String(git('log', '-1', '--format=%H', `--grep=^${subject}$`)).trim();
  if (commit === '') throw new Error(`no commit is called “${subject}”`);
  const old = join(folder, 'old');
  mkdirSync(old);
  const archive = git('archive', commit, 'bin', 'src', 'migrations', 'package.json');
  execFileSync('tar', ['-x', '-C', old], { input: archive });
  for (const name of ['console', 'docs', 'demo', 'packages'])
    symlinkSync(join(root, name), join(old, name));
  const packages = join(old, 'node_modules');
  mkdirSync(packages);
  for (const name of readdirSync(join(root, 'node_modules')))
    symlinkSync(join(root, 'node_modules', name), join(packages, name));
  const own = join(folder, 'only-old');
  mkdirSync(own);
  execFileSync(
    'npm',
    ['install', '--prefix', own, '--no-audit', '--no-fund', '--no-package-lock', ...onlyOld],
    { cwd: own },
  );
  for (const name of readdirSync(join(own, 'node_modules')))
    if (!name.startsWith('.') && !existsSync(join(packages, name)))
      symlinkSync(join(own, 'node_modules', name), join(packages, name));
  return old;
}
