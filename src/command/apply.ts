import { type Config, readConfig } from '../config/config.ts';
import { isUnavailable } from '../foundation/database/sqlstate.ts';
import { OperatorError } from '../foundation/errors.ts';
import { applyManifest } from '../manifest/apply-manifest.ts';
import { describeChanges, describeProblems } from '../manifest/describe-changes.ts';
import type { Manifest } from '../manifest/manifest.ts';
import type { ApplyOptions } from '../manifest/manifest-change.ts';
import { readManifestText } from '../manifest/manifest-files.ts';
import { ManifestError } from '../manifest/manifest-problems.ts';
import { parseManifest } from '../manifest/parse-manifest.ts';
import { exitOnSignal } from './exit-on-signal.ts';
import { joinInstallation } from './join-installation.ts';

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
  exitOnSignal();
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
  const installation = await joinInstallation(config);
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
