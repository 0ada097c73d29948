import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Diagnosis, DoctorContext } from './doctor-context.ts';

const minFreeBytes = 1024 ** 3;

/** Checks that the disk of the data folder has space: when it is full, the embedded database rejects mail. */
export async function checkDisk({ config }: DoctorContext): Promise<Diagnosis> {
  const info = await statfs(config.dataDir).catch(() => statfs(dirname(config.dataDir)));
  const free = info.bavail * info.bsize;
  const finding = `${(free / 1024 ** 3).toFixed(1)} GiB free for ${config.dataDir}`;
  if (free >= minFreeBytes || config.databaseUrl !== undefined) return { ok: true, finding };
  return {
    ok: false,
    finding,
    advice: 'Free some space, or move DATA_DIR to a larger disk while the service is stopped.',
  };
}
