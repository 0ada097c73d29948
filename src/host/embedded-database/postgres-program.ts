import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { DatabaseUser } from './database-user.ts';

/** A text as one word of a POSIX shell. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Waits until a child process has exited or failed to start; never rejects. */
export function waitForExit(
  child: ChildProcess,
): Promise<{ code: number | null; problem?: string }> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: null, problem: error.message }));
    child.once('exit', (code, signal) => {
      resolve(signal ? { code, problem: `terminated by ${signal}` } : { code });
    });
  });
}

/** PostgreSQL's programs, and the user they run as (undefined: the current user). */
export type PostgresPrograms = {
  /** The folder with `bin`, `lib` and `share`. */
  readonly folder: string;
  /** As reported by the program, such as `18.4`. */
  readonly version: string;
  readonly user: DatabaseUser | undefined;
};

/** Environment variables that the programs need; excludes the service's settings and secrets. */
const INHERITED_VARIABLES = [
  'PATH',
  'LD_LIBRARY_PATH',
  'TMPDIR',
  'TMP',
  'TEMP',
  'SystemRoot',
  'SystemDrive',
];

/** The path of a PostgreSQL program inside its folder. */
export function programPath(folder: string, name: 'initdb' | 'pg_ctl' | 'postgres'): string {
  return join(folder, 'bin', process.platform === 'win32' ? `${name}.exe` : name);
}

/** Spawn options for PostgreSQL's programs: user and environment. */
export function programOptions(user: DatabaseUser | undefined) {
  const env: NodeJS.ProcessEnv = { LC_ALL: 'C', TZ: 'UTC' };
  for (const name of INHERITED_VARIABLES) {
    if (process.env[name] !== undefined) env[name] = process.env[name];
  }
  // With a uid, Node also drops root's supplementary groups.
  return { env, windowsHide: true, ...(user && { uid: user.uid, gid: user.gid }) };
}

/**
 * Starts a PostgreSQL program in its own session: Ctrl-C in the terminal then reaches only the service, which stops
 * PostgreSQL when it no longer needs it.
 */
export function startProgram(
  programs: PostgresPrograms,
  name: 'initdb' | 'pg_ctl' | 'postgres',
  args: string[],
  options: { cwd: string; stdio: StdioOptions },
): ChildProcess {
  return spawn(programPath(programs.folder, name), args, {
    ...programOptions(programs.user),
    ...options,
    detached: process.platform !== 'win32',
  });
}
