import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { OperatorError } from '../../base/values/errors.ts';
import type { DataFolder } from './data-folder.ts';
import { type PostgresPrograms, startProgram, waitForExit } from './postgres-program.ts';

/** Connection settings of the embedded database, for `pg.Pool` and `pg.Client`. */
export type ConnectionSettings = {
  /** The folder of the Unix socket, or the loopback address if sockets are not supported. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
};

/** The superuser created by initdb: administers the cluster; the service never uses it. */
export const ADMIN_ROLE = 'signalpost';

/** The role that the service uses: owns its database and nothing else. */
export const SERVICE_ROLE = 'signalpost_service';

/** The database that exists in every new cluster. */
export const DATABASE_NAME = 'postgres';

/** Generates a database password: 256 random bits in base64url. */
export function randomPassword(): string {
  return randomBytes(32).toString('base64url');
}

/** Stores a password readable only by this user: completely, or not at all if the disk is full. */
export function storePassword(file: string, password: string): void {
  const unfinished = `${file}.unfinished`;
  writeFileSync(unfinished, `${password}\n`, { mode: 0o600, flush: true });
  renameSync(unfinished, file);
}

/** Reads what `storePassword` wrote; undefined if the file is missing or empty. */
export function readPassword(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  return readFileSync(file, 'utf8').trim() || undefined;
}

/** The password of the service's role, generated if its file is missing or empty. */
export function servicePassword(folder: DataFolder): string {
  const stored = readPassword(folder.servicePasswordFile);
  if (stored !== undefined) return stored;
  const password = randomPassword();
  storePassword(folder.servicePasswordFile, password);
  return password;
}

/**
 * Sets a new superuser password if its file was lost (a backup of the database alone) or emptied (a full disk). This is
 * safe because write access to the data folder already gives full control of the database. PostgreSQL must not be running.
 */
export async function resetSuperuserPassword(
  folder: DataFolder,
  programs: PostgresPrograms,
): Promise<string> {
  // base64url has no characters that are special in SQL strings.
  const password = randomPassword();
  const args = ['--single', '-D', folder.cluster, DATABASE_NAME];
  const child = startProgram(programs, 'postgres', args, {
    cwd: folder.path,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(`ALTER ROLE ${ADMIN_ROLE} PASSWORD '${password}'\n`);
  const [exit, stderrText] = await Promise.all([
    waitForExit(child),
    child.stderr ? text(child.stderr) : '',
  ]);
  const problem = exit.problem ?? /(?:ERROR|FATAL|PANIC): +(.*)/.exec(stderrText)?.[1];
  if (exit.code === 0 && !problem) {
    storePassword(folder.passwordFile, password);
    return password;
  }
  throw new OperatorError(
    `The file ${folder.passwordFile} is missing, and the database password can’t be reset: ${problem}. Restore the file from your backup.`,
  );
}
