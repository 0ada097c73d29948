import { buildManifest } from './build-manifest.ts';
import { checkDuplicates } from './check-duplicates.ts';
import { checkSchema } from './check-schema.ts';
import type { Manifest } from './manifest.ts';
import { ManifestFiles, type ManifestText } from './manifest-files.ts';
import { ProblemList } from './manifest-problems.ts';
import { parseYaml } from './parse-yaml.ts';
import { type Environment, substituteEnvironment } from './substitute-environment.ts';

/**
 * Makes a manifest of its text: YAML or JSON, variables of the environment put in, checked against the schema, files
 * read, addresses and URLs read, nothing named twice.
 * @throws ManifestError with every problem of the first of these steps that finds any
 */
export async function parseManifest(
  { text, folder }: ManifestText,
  environment: Environment,
): Promise<Manifest> {
  const { value, locate } = parseYaml(text);
  const problems = new ProblemList(locate);
  const filled = substituteEnvironment(value, environment, problems);
  problems.throwIfAny();
  const raw = checkSchema(filled, problems);
  problems.throwIfAny();
  if (raw === undefined) throw new Error('the schema was broken without a problem');
  const manifest = await buildManifest(raw, locate, {
    files: new ManifestFiles(folder),
    problems,
  });
  checkDuplicates(manifest, problems);
  problems.throwIfAny();
  return manifest;
}
