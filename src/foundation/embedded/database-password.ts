import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { OperatorError } from '../errors.ts';
import { childExit } from './child-exit.ts';
import { DATABASE_NAME, DATABASE_USER_NAME } from './connection-settings.ts';
import type { DataFolder } from './data-folder.ts';
import { type PostgresPrograms, startProgram } from './postgres-program.ts';

/** A password for the database's one user: 256 random bits in base64url. */
export function randomPassword(): string {
  return randomBytes(32).toString('base64url');
}

/** Keeps the password where only this user can read it: whole, or not at all where the disk is full. */
export function keepPassword(folder: DataFolder, password: string): void {
  const unfinished = `${folder.passwordFile}.unfinished`;
  writeFileSync(unfinished, `${password}\n`, { mode: 0o600, flush: true });
  renameSync(unfinished, folder.passwordFile);
}

/** The password of the database's one user; undefined where its file is missing or empty. */
export function readPassword(folder: DataFolder): string | undefined {
  if (!existsSync(folder.passwordFile)) return undefined;
  return readFileSync(folder.passwordFile, 'utf8').trim() || undefined;
}

/**
 * Gives the database a new password where the file with it was lost, such as by a backup of the
 * database alone, or emptied by a full disk: whoever can write the data folder owns the database
 * anyway. PostgreSQL must not be running.
 */
export async function replacePassword(
  folder: DataFolder,
  programs: PostgresPrograms,
): Promise<string> {
  // The alphabet of base64url has no character that means anything inside a string of SQL.
  const password = randomPassword();
  const args = ['--single', '-D', folder.cluster, DATABASE_NAME];
  const child = startProgram(programs, 'postgres', args, {
    cwd: folder.path,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(`ALTER ROLE ${DATABASE_USER_NAME} PASSWORD '${password}'\n`);
  const [exit, said] = await Promise.all([
    childExit(child),
    child.stderr ? text(child.stderr) : '',
  ]);
  const problem = exit.problem ?? /(?:ERROR|FATAL|PANIC): +(.*)/.exec(said)?.[1];
  if (exit.code === 0 && !problem) {
    keepPassword(folder, password);
    return password;
  }
  throw new OperatorError(
    `The file ${folder.passwordFile} is missing, and the database takes no new password: ${problem}. Restore the file from your backup.`,
  );
}
