import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { DatabaseUser } from './database-user.ts';

/** PostgreSQL's programs, and the user they run as (undefined: as ourselves). */
export type PostgresPrograms = {
  /** The folder that holds `bin`, `lib` and `share`. */
  readonly folder: string;
  /** As the program says itself, such as `18.4`. */
  readonly version: string;
  readonly user: DatabaseUser | undefined;
};

/** Environment variables that the programs need; none of the service's settings and secrets. */
const INHERITED_VARIABLES = [
  'PATH',
  'LD_LIBRARY_PATH',
  'TMPDIR',
  'TMP',
  'TEMP',
  'SystemRoot',
  'SystemDrive',
];

/** The path of one of PostgreSQL's programs inside its folder. */
export function programPath(folder: string, name: 'initdb' | 'pg_ctl' | 'postgres'): string {
  return join(folder, 'bin', process.platform === 'win32' ? `${name}.exe` : name);
}

/** How each of PostgreSQL's programs is started: its user and what it sees of the environment. */
export function programOptions(user: DatabaseUser | undefined) {
  const env: NodeJS.ProcessEnv = { LC_ALL: 'C', TZ: 'UTC' };
  for (const name of INHERITED_VARIABLES) {
    if (process.env[name] !== undefined) env[name] = process.env[name];
  }
  // With a user, Node also drops root's supplementary groups.
  return { env, windowsHide: true, ...(user && { uid: user.uid, gid: user.gid }) };
}

/**
 * Starts one of PostgreSQL's programs in a session of its own: a Ctrl-C in the terminal reaches
 * the service alone, which then stops PostgreSQL when it no longer needs it.
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
