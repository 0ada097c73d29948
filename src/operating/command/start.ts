import { openTracing } from '../../base/telemetry/open-tracing.ts';
import { OperatorError } from '../../base/values/errors.ts';
import { createLog, type Log } from '../../base/values/log.ts';
import { registerBackupMetrics, startBackups } from '../../host/backup/backup-module.ts';
import { forgetBackupService } from '../../host/backup/backup-state.ts';
import { buildMissingConsole } from '../../host/console-server/console-files.ts';
import type { EmbeddedDatabase } from '../../host/embedded-database/embedded-database.ts';
import { endOrphanedLeases } from '../../sending/queue/orphaned-lease-store.ts';
import { type Config, readConfig } from '../config/config.ts';
import { ensureInboxToken, hasDemoKey } from '../manifest/demo-environment.ts';
import { listen, startApp } from './listen.ts';
import { openInstallation } from './open-installation.ts';
import { readReleaseVersion } from './read-version.ts';
import { inheritedSocket, notifyServiceManager } from './service-manager.ts';
import type { CommandShell } from './shell.ts';
import { warnAboutLimits, warnAboutServer } from './startup-warnings.ts';
import { aborted, drain, stopSignal, stopWithTimeout } from './stop-service.ts';
import { createStartLinks, programName, welcome } from './welcome.ts';

/**
 * `start`: the whole service in one process. Prints its URLs once it is ready.
 * @returns the exit code, after SIGTERM or SIGINT and a graceful stop
 * @throws OperatorError if the start fails; nothing is left running then
 */
export async function start(shell: CommandShell): Promise<number> {
  const settings = readConfig(shell.environment);
  const log = createLog(settings.logLevel);
  const socket = inheritedSocket(shell.environment);
  const signal = stopSignal();
  try {
    const installation = await openInstallation(settings, log, signal);
    const { embedded } = installation;
    await warnAboutServer(installation, log);
    warnAboutLimits(settings, log);
    if (embedded !== undefined) {
      const orphaned = await endOrphanedLeases(installation.database);
      if (orphaned > 0)
        log.info(
          { orphaned },
          'released messages that were being sent when the service was killed',
        );
    }
    const config = await withInboxToken(settings, log);
    // Loaded last, so that problems with settings or the database show early.
    const { createApp } = await import('../../app.ts');
    const { applyDemo } = await import('../manifest/apply-demo.ts');
    let stopBackups = async (): Promise<void> => undefined;
    const tracing = await openTracing(config.tracing, log);
    const app = createApp({
      config,
      log,
      ...installation,
      registerMetrics: (registry) =>
        embedded && registerBackupMetrics(registry, embedded.folder.path),
      tracing,
    });
    try {
      const demo = config.demo && (await applyDemo({ ...installation, dataDir: config.dataDir }));
      await startApp(app, config);
      const url = await listen(app.http, config, socket);
      embedded?.announce(url);
      // After the first start has created everything.
      if (embedded) stopBackups = await startServiceBackups(config, embedded, log);
      buildMissingConsole(log);
      const links = await createStartLinks(installation.database, config, config.publicUrl ?? url);
      const program = programName(shell.environment);
      const facts = { config, url, demo, links, program };
      shell.out(await welcome({ ...facts, hasDemoKey: await hasDemoKey(config.dataDir) }));
      await notifyServiceManager(shell.environment, 'READY=1', log);
      await aborted(signal);
      log.info('stopping');
      await notifyServiceManager(shell.environment, 'STOPPING=1', log);
      await drain(app, config);
    } finally {
      await stopBackups();
      await stopWithTimeout(app, installation, log);
    }
    return 0;
  } catch (error) {
    if (signal.aborted && error === signal.reason) return 0;
    throw error;
  }
}

/**
 * Adds INBOX_TOKEN to the configuration: the setting, or the token stored in the data folder, generated on the first
 * start with an inbox.
 */
async function withInboxToken(config: Config, log: Log): Promise<Config> {
  if (config.delivery !== 'inbox' || config.inboxToken !== undefined) return config;
  try {
    return { ...config, inboxToken: await ensureInboxToken(config.dataDir) };
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    // The service works without it; only programs can't read the inbox.
    log.warn({ err: error }, 'programs can’t read the inbox: set INBOX_TOKEN');
    return config;
  }
}

/** Starts backups to BACKUP_TO, if it is set. @returns a function that ends them; the next start repeats the current one */
async function startServiceBackups(
  { backup, key, previousKey, dataDir, logLevel }: Config,
  { folder, admin }: EmbeddedDatabase,
  log: Log,
): Promise<() => Promise<void>> {
  const { to } = backup;
  if (to === undefined) {
    forgetBackupService(folder.path);
    return async () => undefined;
  }
  const keys = { key, previousKey, dataDir };
  const release = await readReleaseVersion();
  return startBackups({ settings: { ...backup, to }, folder, admin, keys, release, logLevel }, log);
}
