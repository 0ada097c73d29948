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
  /** Starts backups to BACKUP_TO, if it is set. */
  startBackups(): Promise<void>;
  /** Ends the current one; the next start repeats it. */
  stopBackups(): Promise<void>;
}

const noBackups: ServiceBackups = {
  registerMetrics: () => undefined,
  startBackups: async () => undefined,
  stopBackups: async () => undefined,
};

/** Prepares the backups of a service. With DATABASE_URL, there are none. */
export function prepareServiceBackups(
  config: Config,
  { embedded }: Installation,
  log: Log,
): ServiceBackups {
  if (embedded === undefined) return noBackups;
  const { key, previousKey, dataDir, logLevel } = config;
  const { folder, admin } = embedded;
  let stop = noBackups.stopBackups;
  return {
    registerMetrics: (registry) => registerBackupMetrics(registry, folder.path),
    async startBackups() {
      const { to } = config.backup;
      if (to === undefined) return forgetBackupService(folder.path);
      const job = {
        settings: { ...config.backup, to },
        folder,
        admin,
        keys: { key, previousKey, dataDir },
        release: await readReleaseVersion(),
        logLevel,
      };
      stop = startBackups(job, log);
    },
    stopBackups: () => stop(),
  };
}
