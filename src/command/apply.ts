import { type Config, readConfig } from '../config.ts';
import { isCurrent } from '../foundation/database/migrate.ts';
import { openDatabase, requireServer } from '../foundation/database/open-database.ts';
import { isUnavailable } from '../foundation/database/sqlstate.ts';
import { findRunningEmbedded } from '../foundation/embedded/find-running-embedded.ts';
import { OperatorError } from '../foundation/errors.ts';
import { requireSameKey } from '../foundation/installation-store.ts';
import { loadMasterKey } from '../foundation/load-master-key.ts';
import { createLog } from '../foundation/log.ts';
import { applyManifest } from '../manifest/apply-manifest.ts';
import { describeChanges, describeProblems } from '../manifest/describe-changes.ts';
import type { Manifest } from '../manifest/manifest.ts';
import type { ApplyOptions } from '../manifest/manifest-change.ts';
import { readManifestText } from '../manifest/manifest-files.ts';
import { ManifestError } from '../manifest/manifest-problems.ts';
import { parseManifest } from '../manifest/parse-manifest.ts';
import { exitAtSignal } from './exit-at-signal.ts';
import { type Installation, openInstallation } from './open-installation.ts';

/**
 * `apply FILE`: sets up what a manifest names, in the installation of DATABASE_URL or DATA_DIR, also while its service
 * runs. Prints what became of everything on standard output, what is wrong with the manifest on standard error.
 * @param file the manifest, `-` for standard input
 * @returns the exit code: 0, or 1 for a manifest that cannot be applied; nothing is changed then
 * @throws OperatorError for an unreadable manifest, or an installation that cannot be reached
 */
export async function applyCommand(
  file: string,
  options: ApplyOptions,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const config = readConfig(environment);
  exitAtSignal();
  const source = await readManifestText(file);
  try {
    const manifest = await parseManifest(source, environment);
    const changes = await applyTo(config, manifest, options);
    process.stdout.write(describeChanges(changes, options.dryRun === true));
    return 0;
  } catch (error) {
    if (!(error instanceof ManifestError)) throw error;
    process.stderr.write(describeProblems(source.name, error.problems));
    return 1;
  }
}

async function applyTo(
  config: Config,
  manifest: Manifest,
  options: ApplyOptions,
): ReturnType<typeof applyManifest> {
  const installation = await open(config);
  try {
    return await applyManifest(installation.database, installation.key, manifest, options);
  } catch (cause) {
    if (!isUnavailable(cause)) throw cause;
    throw new OperatorError('The database went away meanwhile; apply the manifest again.', {
      cause,
    });
  } finally {
    await installation.close();
  }
}

/** The embedded database of a running service is joined, else it is started for as long as the command takes. */
async function open(config: Config): Promise<Installation> {
  // The start of the embedded database is no news here; a person reads what is printed.
  const log = createLog(config.logLevel === 'info' ? 'warn' : config.logLevel);
  const running =
    config.databaseUrl === undefined ? await findRunningEmbedded(config.dataDir) : undefined;
  if (running === undefined) return openInstallation(config, log);
  const database = openDatabase(running, { applicationName: 'signalpost apply' });
  const close = () => database.close();
  try {
    await requireServer(database);
    if (!(await isCurrent(database))) {
      throw new OperatorError(
        'The service that runs on this DATA_DIR is of another release; restart it with this one first.',
      );
    }
    const key = await loadMasterKey(config);
    await requireSameKey(database, key);
    return { database, key, embedded: undefined, close };
  } catch (error) {
    await close();
    throw error;
  }
}
