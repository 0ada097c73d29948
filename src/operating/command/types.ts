import { compileTemplate } from '../../content/template/template-compiler.ts';
import type { TemplateSource } from '../../content/template/template-source.ts';
import {
  apiKeyOf,
  ManagementConnection,
  TypesFailure,
} from '../../content/template-types/management-connection.ts';
import {
  localesOf,
  readPublishedShapes,
} from '../../content/template-types/read-published-shapes.ts';
import { readOpenapiFile, saveTypes } from '../../content/template-types/save-types.ts';
import { requestFields, type TemplateShape } from '../../content/template-types/template-shape.ts';
import { viewFields } from '../management/template/template-views.ts';
import { describeProblems } from '../manifest/describe-changes.ts';
import type { ManifestTemplate } from '../manifest/manifest.ts';
import { readManifestText } from '../manifest/manifest-files.ts';
import { ManifestError } from '../manifest/manifest-problems.ts';
import { readManifestTemplates } from '../manifest/parse-manifest.ts';
import type { CommandShell } from './shell.ts';

interface TypesOptions {
  readonly url?: string;
  readonly manifest?: string;
  /** An OpenAPI document of an earlier run. */
  readonly openapi?: string;
  readonly account?: string;
  readonly out?: string;
  readonly check?: boolean;
}

/**
 * `types`: writes TypeScript types of published templates, from a running service or a manifest.
 * @returns the exit code: 0, or 1 if the manifest is invalid or, with `check`, the file doesn't fit
 * @throws TypesFailure for problems that the caller can fix
 */
export async function typesCommand(shell: CommandShell, options: TypesOptions): Promise<number> {
  try {
    return await saveTypes(await readTemplates(options, shell), options, shell);
  } catch (error) {
    if (!(error instanceof ManifestError)) throw error;
    shell.err(describeProblems(options.manifest ?? '', error.problems));
    return 1;
  }
}

async function readTemplates(
  { openapi, manifest, account, url }: TypesOptions,
  shell: CommandShell,
): Promise<TemplateShape[]> {
  if (openapi !== undefined) return await readOpenapiFile(openapi);
  if (manifest !== undefined) return await readShapes(manifest, account, shell);
  return await readPublishedShapes(connectTo(url, shell));
}

/** The service of `--url` or SIGNALPOST_URL, with the account of the API key. @throws TypesFailure */
export function connectTo(url: string | undefined, shell: CommandShell): ManagementConnection {
  const found = url ?? shell.environment.SIGNALPOST_URL;
  if (found === undefined || found === '')
    throw new TypesFailure('--url is required: the address of the service');
  return new ManagementConnection(found, apiKeyOf(shell.environment));
}

async function readShapes(
  file: string,
  account: string | undefined,
  shell: CommandShell,
): Promise<TemplateShape[]> {
  const { accounts } = await readManifestTemplates(
    await readManifestText(file, shell.in),
    shell.environment,
  );
  const found =
    account === undefined
      ? accounts.filter(({ templates }) => templates.length > 0)
      : accounts.filter(({ id }) => id === account);
  if (found.length > 1)
    throw new TypesFailure(
      `${file} has templates of several accounts. Choose one with --account: ${found.map(({ id }) => id).join(', ')}`,
    );
  if (found.length === 0 && account !== undefined)
    throw new TypesFailure(`${file} has no account ${account}`);
  const shapes: TemplateShape[] = [];
  for (const template of found[0]?.templates ?? []) shapes.push(await shapeOf(template));
  return shapes;
}

async function shapeOf({ id, source }: ManifestTemplate): Promise<TemplateShape> {
  const { compiled, problems } = await compileTemplate(source);
  if (compiled === null) {
    const reasons = problems.filter(({ severity }) => severity === 'error');
    throw new TypesFailure(
      `Template ${id} has errors: ${reasons.map(({ part, message }) => `${part} ${message}`).join('; ')}`,
    );
  }
  const localized: TemplateSource & Parameters<typeof localesOf>[0] = source;
  return {
    id,
    fields: requestFields(viewFields(compiled.fields, source.fields, {})),
    locales: localesOf(localized),
  };
}
