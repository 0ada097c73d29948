import { buildManifest } from './build-manifest.ts';
import { checkDuplicates } from './check-duplicates.ts';
import { checkSchema } from './check-schema.ts';
import { resolveCompiledContent } from './compile-content.ts';
import { CompiledContents } from './compiled-contents.ts';
import type { Manifest } from './manifest.ts';
import { ManifestFiles, type ManifestText } from './manifest-files.ts';
import { ProblemCollector } from './manifest-problems.ts';
import { parseYaml } from './parse-yaml.ts';
import { type EnvironmentVariables, substituteEnvironment } from './substitute-environment.ts';

/**
 * Parses a manifest: reads YAML or JSON, substitutes environment variables, validates the schema, reads files, addresses and
 * URLs, and checks for duplicates.
 * @throws ManifestError with every problem that can be found without an installation, including those of template content
 */
export async function parseManifest(
  { text, folder }: ManifestText,
  environment: EnvironmentVariables,
): Promise<Manifest> {
  const { value, locate } = parseYaml(text);
  const problems = new ProblemCollector(locate);
  const filled = substituteEnvironment(value, environment, problems);
  problems.nextStep();
  const raw = checkSchema(filled, problems);
  if (raw === undefined) throw problems.toError();
  problems.nextStep();
  const manifest = await buildManifest(raw, locate, {
    files: new ManifestFiles(folder),
    problems,
  });
  checkDuplicates(manifest, problems);
  if (!problems.isEmpty) await checkTemplates(manifest, problems);
  problems.throwIfAny();
  return manifest;
}

/** Compiles all templates of a manifest that won't be applied; an apply only compiles new content. */
async function checkTemplates({ accounts }: Manifest, problems: ProblemCollector): Promise<void> {
  problems.nextStep();
  const contents = new CompiledContents();
  for (const { templates } of accounts) {
    await contents.compile(templates);
    for (const template of templates) resolveCompiledContent(template, contents, problems);
  }
}
