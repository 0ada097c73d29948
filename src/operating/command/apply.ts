import { isUnavailable } from '../../base/database/sqlstate.ts';
import { OperatorError } from '../../base/values/errors.ts';
import { type Config, readConfig, signInSettingsOf } from '../config/config.ts';
import { applyManifest } from '../manifest/apply-manifest.ts';
import { describeChanges, describeProblems } from '../manifest/describe-changes.ts';
import type { Manifest } from '../manifest/manifest.ts';
import type { ApplyOptions } from '../manifest/manifest-change.ts';
import { readManifestText } from '../manifest/manifest-files.ts';
import { ManifestError } from '../manifest/manifest-problems.ts';
import { parseManifest } from '../manifest/parse-manifest.ts';
import { joinInstallation } from './join-installation.ts';
import { type CommandShell, printResult } from './shell.ts';
import { exitOnSignal } from './stop-service.ts';

/**
 * `apply FILE`: applies a manifest to the installation of DATABASE_URL or DATA_DIR, even while its service runs.
 * Prints the changes on standard output and problems with the manifest on standard error.
 * @param file the manifest, `-` for standard input
 * @returns the exit code: 0, or 1 if the manifest can't be applied; nothing is changed then
 * @throws OperatorError if the manifest can't be read, or the installation can't be reached
 */
export async function applyCommand(
  shell: CommandShell,
  file: string,
  options: ApplyOptions,
): Promise<number> {
  const config = readConfig(shell.environment);
  exitOnSignal();
  const source = await readManifestText(file, shell.in);
  try {
    const manifest = await parseManifest(source, shell.environment);
    const changes = await applyTo(config, manifest, options);
    const text = describeChanges(changes, options.dryRun === true);
    printResult(shell, text.trimEnd(), { applied: options.dryRun !== true, changes });
    return 0;
  } catch (error) {
    if (!(error instanceof ManifestError)) throw error;
    shell.err(describeProblems(source.name, error.problems));
    return 1;
  }
}

async function applyTo(
  config: Config,
  manifest: Manifest,
  options: ApplyOptions,
): ReturnType<typeof applyManifest> {
  const installation = await joinInstallation(config);
  try {
    const { database, key } = installation;
    const signIn = signInSettingsOf(config);
    const { outboxNetworks } = config;
    return await applyManifest(database, key, manifest, { ...options, signIn, outboxNetworks });
  } catch (cause) {
    if (!isUnavailable(cause)) throw cause;
    throw new OperatorError('The database became unavailable. Apply the manifest again.', {
      cause,
    });
  } finally {
    await installation.close();
  }
}
