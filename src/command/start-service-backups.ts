import type { Registry } from 'prom-client';
import { registerBackupMetrics, startBackups } from '../backup/backup-module.ts';
import { forgetBackupService } from '../backup/backup-state.ts';
import type { Config } from '../config/config.ts';
import type { Log } from '../foundation/log.ts';
import type { Installation } from './open-installation.ts';
import { readReleaseVersion } from './read-version.ts';

/** The backups of a running service. */
export interface ServiceBackups {
  registerMetrics(registry: Registry): void;
  /** Ends the current one; the next start repeats it. */
  stopBackups(): Promise<void>;
}

/** Starts the backups to BACKUP_TO. Without it, or with DATABASE_URL, there are none. */
export async function startServiceBackups(
  config: Config,
  { embedded }: Installation,
  log: Log,
): Promise<ServiceBackups> {
  if (embedded === undefined)
    return { registerMetrics: () => undefined, stopBackups: async () => undefined };
  const { to } = config.backup;
  const { folder, admin } = embedded;
  const registerMetrics = (registry: Registry) => registerBackupMetrics(registry, folder.path);
  if (to === undefined) {
    forgetBackupService(folder.path);
    return { registerMetrics, stopBackups: async () => undefined };
  }
  const { key, previousKey, dataDir, logLevel } = config;
  const stopBackups = startBackups(
    {
      settings: { ...config.backup, to },
      folder,
      admin,
      keys: { key, previousKey, dataDir },
      release: await readReleaseVersion(),
      logLevel,
    },
    log,
  );
  return { registerMetrics, stopBackups };
}
