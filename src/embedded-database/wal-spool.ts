import { chmodSync, chownSync, mkdirSync } from 'node:fs';
import type { ClusterSetting } from './cluster-settings.ts';
import type { DataFolder } from './data-folder.ts';
import type { DatabaseUser } from './database-user.ts';
import { quoteForShell } from './quote-for-shell.ts';

/** Creates the folder where PostgreSQL puts WAL for the backup. */
export function prepareWalSpool({ walSpool }: DataFolder, user: DatabaseUser | undefined): void {
  mkdirSync(walSpool, { recursive: true });
  chmodSync(walSpool, 0o700);
  if (user) chownSync(walSpool, user.uid, user.gid);
}

/**
 * Archives WAL into the spool folder. PostgreSQL removes a segment once this succeeds, so the copy is flushed before it
 * gets its name. A local copy never waits for the target of the backup.
 */
export function archiveSettings({ walSpool }: DataFolder, everySeconds: number): ClusterSetting[] {
  const folder = quoteForShell(walSpool).replaceAll('%', '%%');
  const copy = `${folder}/%f.unfinished`;
  return [
    ['archive_mode', 'on'],
    ['archive_timeout', everySeconds],
    [
      'archive_command',
      `cp "%p" ${copy} && sync ${copy} && mv ${copy} ${folder}/%f && sync ${folder}`,
    ],
  ];
}
