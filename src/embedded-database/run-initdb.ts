import { chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { OperatorError } from '../foundation/errors.ts';
import { ADMIN_ROLE } from './connection-settings.ts';
import { type DataFolder, diskFull, isDiskFullMessage } from './data-folder.ts';
import { type PostgresPrograms, startProgram } from './postgres-program.ts';
import { waitForExit } from './wait-for-exit.ts';

/** A cluster to create in `parentFolder`/database, with its user and password. */
interface InitdbJob {
  readonly parentFolder: string;
  readonly password: string;
  readonly durable: boolean;
  readonly signal: AbortSignal | undefined;
}

/** @throws OperatorError with initdb's own reason if it fails */
export async function runInitdb(
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
