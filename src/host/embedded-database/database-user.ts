import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { OperatorError } from '../../base/values/errors.ts';
import type { DataFolder } from './data-folder.ts';

/** The system user that PostgreSQL runs as if the service itself is root. */
export type DatabaseUser = { readonly uid: number; readonly gid: number };

const CANDIDATES = ['postgres', '_postgres', 'nobody'];

/**
 * Chooses the user for PostgreSQL, which refuses to run as root; undefined if the service is not root, so that
 * PostgreSQL runs as the same user.
 *
 * An existing database keeps its owner, even if a better candidate appears later.
 */
export function chooseDatabaseUser(folder: DataFolder): DatabaseUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const owner = statSync(folder.cluster, { throwIfNoEntry: false });
  if (owner && owner.uid !== 0) return { uid: owner.uid | 0, gid: owner.gid | 0 };
  const usersByName = readUsers();
  for (const name of CANDIDATES) {
    const user = usersByName.get(name);
    if (user) return user;
  }
  throw new OperatorError(
    `PostgreSQL can’t run as root, and this system has no user "postgres" or "nobody" for it. Start Signalpost as another user, or set DATABASE_URL to your own PostgreSQL.`,
  );
}

function readUsers(): Map<string, DatabaseUser> {
  const users = new Map<string, DatabaseUser>();
  for (const line of readFileSync('/etc/passwd', 'utf8').split('\n')) {
    const [name, , uid, gid] = line.split(':');
    if (name && uid && gid && !line.startsWith('#')) {
      // Node expects IDs as signed 32-bit numbers; macOS writes nobody's as -2.
      users.set(name, { uid: Number(uid) | 0, gid: Number(gid) | 0 });
    }
  }
  return users;
}

/** The outermost folder on the path, `path` included, that `user` can't traverse; undefined if there is none. */
export function findUntraversableFolder(path: string, user: DatabaseUser): string | undefined {
  const parent = dirname(path);
  const above = parent === path ? undefined : findUntraversableFolder(parent, user);
  return above ?? (canTraverse(path, user) ? undefined : path);
}

function canTraverse(folder: string, user: DatabaseUser): boolean {
  const { mode, uid, gid } = statSync(folder);
  if ((uid | 0) === user.uid) return (mode & 0o100) !== 0;
  if ((gid | 0) === user.gid) return (mode & 0o010) !== 0;
  return (mode & 0o001) !== 0;
}

/** @throws OperatorError if PostgreSQL's user can't reach the data folder */
export function requireReachable(folder: DataFolder, user: DatabaseUser): void {
  const blocker = findUntraversableFolder(folder.path, user);
  if (!blocker) return;
  throw new OperatorError(
    `When started by root, PostgreSQL runs as another user, who can’t traverse the folder ${blocker} to DATA_DIR ${folder.path}. Set DATA_DIR to a folder that others can reach, such as /var/lib/signalpost.`,
  );
}
