import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { temporaryFolder } from './temporary-folder.ts';

/**
 * Copies a data folder that the run made: `initialized`, in which a database was started, or `started`, in which the service was,
 * with its demo.
 * @param to a new or an empty folder. Default: one of its own
 */
export function copyDataFolder(
  kind: 'initialized' | 'started',
  to: string = join(temporaryFolder(), 'data'),
): string {
  const { TEST_DATA_FOLDERS: folders } = process.env;
  if (folders === undefined) throw new Error('TEST_DATA_FOLDERS is not set; run: npm test -- FILE');
  // cp keeps the owner, which is PostgreSQL's user if the tests run as root.
  execFileSync('mkdir', ['-p', to]);
  execFileSync('cp', ['-a', `${join(folders, kind)}/.`, to]);
  return to;
}
