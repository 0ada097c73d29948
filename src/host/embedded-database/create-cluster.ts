import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { OperatorError } from '../../base/values/errors.ts';
import { syncFolder } from '../../base/values/sync-folder.ts';
import { SETTINGS_FILE } from './cluster-settings.ts';
import { type DataFolder, diskFull, isDiskFullMessage } from './data-folder.ts';
import { ADMIN_ROLE, randomPassword, storePassword } from './database-password.ts';
import type { DatabaseUser } from './database-user.ts';
import { type PostgresPrograms, startProgram, waitForExit } from './postgres-program.ts';

const UNFINISHED = 'database.unfinished-';
const MAX_ROUNDS = 100;
const ROUND_MS = 100;

/** Options for a new cluster. */
export interface ClusterOptions {
  /** False: skip fsync. */
  readonly durable: boolean;
  /** Aborts the creation and cleans up. */
  readonly signal: AbortSignal | undefined;
}

/**
 * Creates the cluster folder unless it exists. It is built in a temporary folder and moved into place when complete, so
 * that a killed start never leaves a partial cluster.
 *
 * @throws OperatorError if it belongs to another major version, or can't be created
 */
export async function createCluster(
  folder: DataFolder,
  programs: PostgresPrograms,
  options: ClusterOptions,
): Promise<'made' | 'found'> {
  await removeUnfinished(folder);
  if (existsSync(folder.cluster) && readdirSync(folder.cluster).length > 0) {
    requireOwnVersion(folder, programs.version);
    if (programs.user) changeOwner(folder.cluster, programs.user);
    return 'found';
  }
  const unfinished = mkdtempSync(join(folder.path, UNFINISHED));
  try {
    if (programs.user) chownSync(unfinished, programs.user.uid, programs.user.gid);
    const password = randomPassword();
    await runInitdb(folder, programs, { ...options, parentFolder: unfinished, password });
    storePassword(folder.passwordFile, password);
    await moveIntoPlace(join(unfinished, 'database'), folder, options.durable);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  await removeUnfinished(folder);
  return 'made';
}

/**
 * Removes the incomplete cluster of a killed start. Its initdb may keep writing for a second or two, so this repeats
 * until nothing is left.
 */
async function removeUnfinished(folder: DataFolder): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const names = readdirSync(folder.path).filter((name) => name.startsWith(UNFINISHED));
    if (names.length === 0) return;
    for (const name of names) tryToRemove(join(folder.path, name));
    await delay(ROUND_MS);
  }
}

function tryToRemove(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // Still being written; the next round retries.
  }
}

function requireOwnVersion(folder: DataFolder, version: string): void {
  const file = join(folder.cluster, 'PG_VERSION');
  if (!existsSync(file)) {
    throw new OperatorError(
      `The folder ${folder.cluster} isn’t empty but contains no database. Restore it from your backup, or move it away to create a new one.`,
    );
  }
  const found = readFileSync(file, 'utf8').trim();
  const own = version.split('.')[0];
  if (found === own) return;
  throw new OperatorError(
    `The database in ${folder.cluster} was created by PostgreSQL ${found}, but this release of Signalpost comes with PostgreSQL ${own}. Start the release that created it, dump the database and restore it into a new DATA_DIR with this one.`,
  );
}

/**
 * A database that root restored from a backup may belong to root and be readable by others, which PostgreSQL rejects:
 * give it back to its user.
 */
function changeOwner(cluster: string, user: DatabaseUser): void {
  if (statSync(cluster).uid !== 0) return;
  chmodSync(cluster, 0o700);
  for (const name of readdirSync(cluster, { recursive: true, encoding: 'utf8' })) {
    lchownSync(join(cluster, name), user.uid, user.gid);
  }
  // The folder itself comes last, because its owner shows that everything inside is done.
  chownSync(cluster, user.uid, user.gid);
}

async function moveIntoPlace(cluster: string, folder: DataFolder, durable: boolean): Promise<void> {
  appendFileSync(
    join(cluster, 'postgresql.conf'),
    `\n# Signalpost's own settings, rewritten at each start. ALTER SYSTEM overrides them.\ninclude_if_exists = '${SETTINGS_FILE}'\n`,
    { flush: durable },
  );
  renameSync(cluster, folder.cluster);
  if (durable) await syncFolder(folder.path);
}

/** A cluster to create in `parentFolder`/database, with its user and password. */
interface InitdbJob {
  readonly parentFolder: string;
  readonly password: string;
  readonly durable: boolean;
  readonly signal: AbortSignal | undefined;
}

/** @throws OperatorError with initdb's own reason if it fails */
async function runInitdb(
  folder: DataFolder,
  programs: PostgresPrograms,
  job: InitdbJob,
): Promise<void> {
  job.signal?.throwIfAborted();
  const child = startProgram(programs, 'initdb', initdbArguments(programs, job), {
    cwd: folder.path,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const stop = () => child.kill('SIGTERM');
  job.signal?.addEventListener('abort', stop);
  process.once('exit', stop);
  const [exit, stderrText] = await Promise.all([
    waitForExit(child),
    child.stderr ? text(child.stderr) : '',
  ]);
  job.signal?.removeEventListener('abort', stop);
  process.removeListener('exit', stop);
  job.signal?.throwIfAborted();
  if (exit.code === 0) return;
  if (isDiskFullMessage(stderrText)) throw diskFull(folder.path);
  throw new OperatorError(
    `The database in ${folder.path} can’t be created: ${exit.problem ?? parseReason(stderrText)}.`,
  );
}

function initdbArguments(programs: PostgresPrograms, job: InitdbJob): string[] {
  const passwordFile = join(job.parentFolder, 'password');
  writeFileSync(passwordFile, job.password, { mode: 0o600, flag: 'wx' });
  if (programs.user) chownSync(passwordFile, programs.user.uid, programs.user.gid);
  return [
    `--pgdata=${join(job.parentFolder, 'database')}`,
    `--username=${ADMIN_ROLE}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    // Sorts by code point, knows the letters of all scripts, and is the same on every system.
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--data-checksums',
    '--no-instructions',
    ...(job.durable ? [] : ['--no-sync']),
  ];
}

function parseReason(stderrText: string): string {
  const first = /(?:FATAL|PANIC|error): +(.*)/.exec(stderrText)?.[1];
  return first ?? stderrText.trim().split('\n').at(-1) ?? 'no error message';
}
