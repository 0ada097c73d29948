import { buildManifest } from './build-manifest.ts';
import { checkDuplicates } from './check-duplicates.ts';
import { checkSchema } from './check-schema.ts';
import type { Manifest } from './manifest.ts';
import { ManifestFiles, type ManifestText } from './manifest-files.ts';
import { ProblemCollector } from './manifest-problems.ts';
import { parseYaml } from './parse-yaml.ts';
import { type EnvironmentVariables, substituteEnvironment } from './substitute-environment.ts';

/**
 * Parses only the templates of a manifest, so that secrets of its other parts aren't needed.
 * @throws ManifestError
 */
export async function readManifestTemplates(
  { text, folder }: ManifestText,
  environment: EnvironmentVariables,
): Promise<Manifest> {
  const { value, locate } = parseYaml(text);
  const problems = new ProblemCollector(locate);
  const filled = substituteEnvironment(templatesOf(value), environment, problems);
  problems.nextStep();
  const raw = checkSchema(filled, problems);
  if (raw === undefined) throw problems.toError();
  problems.nextStep();
  const files = new ManifestFiles(folder);
  const manifest = await buildManifest(raw, locate, { files, problems });
  checkDuplicates(manifest, problems);
  problems.throwIfAny();
  return manifest;
}

function templatesOf(value: unknown): unknown {
  const { accounts } = (value ?? {}) as { readonly accounts?: unknown };
  if (!Array.isArray(accounts)) return value;
  return {
    accounts: accounts.map((account: unknown) => {
      if (typeof account !== 'object' || account === null) return account;
      const { id, name, templates } = account as Readonly<Record<string, unknown>>;
      return Object.fromEntries(
        Object.entries({ id, name, templates }).filter(([, member]) => member !== undefined),
      );
    }),
  };
}
