import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statfsSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestPostgres } from './test-postgres.ts';

/**
 * Starts a temporary server from the binaries in `folder`, such as /usr/lib/postgresql/15/bin, to test on the oldest supported
 * PostgreSQL. PostgreSQL can't run as root, so root starts it as the user postgres.
 * @param likeProduction with a server's usual settings: durable, and a locale that covers all letters
 */
export async function startProgramPostgres(
  folder: string,
  { likeProduction = false } = {},
): Promise<TestPostgres> {
  const home = makeProgramHome(likeProduction ? tmpdir() : memoryFolder());
  const data = createProgramCluster(folder, home, likeProduction ? 'C.UTF-8' : 'C');
  const settings = ['max_connections=200', likeProduction ? 'fsync=on' : 'autovacuum=off'];
  const server = await startProgramServer(folder, data, settings);
  const url = new URL('postgres://postgres@localhost:5432/postgres');
  url.searchParams.set('host', data);
  return {
    url: url.href,
    serviceUrl: url.href,
    async stop() {
      await endProgramServer(server, 'SIGINT');
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** Less may not be enough for the databases of all files that run at the same time, with their WAL. */
const enoughMemory = 3 * 1_024 ** 3;

/**
 * A folder for throwaway clusters: in memory if there is enough of it, because cloning a database creates a thousand files, which
 * takes a disk's file system up to ten times as long.
 */
export function memoryFolder(): string {
  const shared = '/dev/shm';
  try {
    accessSync(shared, constants.W_OK);
    const { bavail, bsize } = statfsSync(shared);
    return bavail * bsize >= enoughMemory ? shared : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** A folder for clusters that PostgreSQL's user can reach. */
export function makeProgramHome(parent = tmpdir()): string {
  const home = mkdtempSync(join(parent, 'signalpost-pg-'));
  if (readPostgresIdentity() !== undefined) chmodSync(home, 0o711);
  return home;
}

/** Creates a cluster in a folder of `makeProgramHome`, with the superuser postgres. @returns its folder */
export function createProgramCluster(folder: string, home: string, locale = 'C'): string {
  const data = join(home, 'data');
  makeProgramFolder(data);
  const options = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale', locale, '--no-sync'];
  runProgram(folder, 'initdb', ['-D', data, ...options], data);
  return data;
}

/** Creates a folder of PostgreSQL's user. */
export function makeProgramFolder(path: string): void {
  mkdirSync(path, { mode: 0o700 });
  const identity = readPostgresIdentity();
  if (identity !== undefined) chownSync(path, identity.uid, identity.gid);
}

/** Runs a program of PostgreSQL as its user. */
export function runProgram(
  folder: string,
  name: string,
  options: readonly string[],
  cwd: string,
): void {
  const run = spawnSync(join(folder, name), options, {
    ...readPostgresIdentity(),
    cwd,
    encoding: 'utf8',
  });
  if (run.status !== 0) throw new Error(`${name}: ${run.error?.message ?? run.stderr}`);
}

/**
 * Starts a server on a cluster and waits until it accepts connections. It listens on a Unix socket in the cluster's folder only,
 * unless settings say otherwise.
 * @param settings of postgresql.conf, such as `max_connections=200`
 */
export async function startProgramServer(
  folder: string,
  data: string,
  settings: readonly string[] = [],
): Promise<ChildProcess> {
  const given = ['fsync=off', ...settings].flatMap((setting) => ['-c', setting]);
  const server = spawn(join(folder, 'postgres'), ['-D', data, '-k', data, '-h', '', ...given], {
    ...readPostgresIdentity(),
    cwd: data,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await waitUntilReady(server);
  return server;
}

/** Ends a server with SIGINT (fast), or SIGQUIT (like a crash). */
export async function endProgramServer(
  server: ChildProcess,
  signal: 'SIGINT' | 'SIGQUIT',
): Promise<void> {
  if (server.exitCode !== null) return;
  const exited = once(server, 'exit');
  server.kill(signal);
  await exited;
}

/** Who runs PostgreSQL: undefined if this user can, postgres if this is root. */
export function readPostgresIdentity(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const entry = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'));
  if (entry === null)
    throw new Error('running as root requires a user named postgres to run PostgreSQL');
  return { uid: Number(entry[1]), gid: Number(entry[2]) };
}

const readyPattern = /database system is ready to accept (read-only )?connections/;

function waitUntilReady(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = '';
    server.stderr?.on('data', (chunk: Buffer) => {
      output = `${output}${chunk}`.slice(-10_000);
      if (readyPattern.test(output)) resolve();
    });
    server.once('error', reject);
    server.once('exit', () => reject(new Error(`PostgreSQL exited immediately: ${output}`)));
  });
}
