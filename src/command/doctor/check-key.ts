import { access, constants, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { requireMatchingKey } from '../../foundation/installation-store.ts';
import { readKeyState } from '../../foundation/key-rotation-store.ts';
import { loadMasterKey } from '../../foundation/load-master-key.ts';
import type { Diagnosis, DoctorContext } from './doctor-context.ts';

/** Checks that the key exists, that its file is private, and that it is the key of the database. */
export async function checkKey({ config, database }: DoctorContext): Promise<Diagnosis> {
  const file = join(config.dataDir, 'signalpost.key');
  if (config.key === undefined) {
    const exists = await access(file, constants.F_OK).then(
      () => true,
      () => false,
    );
    if (!exists) return { ok: true, finding: `none yet; the first start creates ${file}` };
    const { mode } = await stat(file);
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      return {
        ok: false,
        finding: `${file} can be read by others`,
        advice: `Run: chmod 600 ${file}`,
      };
    }
  }
  const key = await loadMasterKey(config);
  if (database !== undefined) {
    await requireMatchingKey(database, key);
    if ((await readKeyState(database)).previous !== null)
      return {
        ok: true,
        finding: 'rotation in progress; the previous key is still accepted',
        advice: 'When nothing needs it anymore, run: signalpost key rotate-master --finish',
      };
  }
  return {
    ok: true,
    finding:
      config.key === undefined
        ? `in ${file}; keep a copy separate from the database backups`
        : 'from SIGNALPOST_KEY',
  };
}
