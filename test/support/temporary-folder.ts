import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A folder for one test file's data that PostgreSQL's user can traverse. It is removed when the process exits, because
 * hooks run in registration order and later ones stop what still writes there.
 */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'signalpost-test-'));
  chmodSync(folder, 0o711);
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  return folder;
}
