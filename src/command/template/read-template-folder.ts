import { lstat, readdir, readFile, realpath } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { Ajv } from 'ajv';
import { codeOf } from '../../foundation/database/sqlstate.ts';
import { buildTemplate } from '../../manifest/build-template.ts';
import { describeSchemaErrors } from '../../manifest/check-schema.ts';
import { ManifestFiles } from '../../manifest/manifest-files.ts';
import { type ManifestError, ProblemCollector } from '../../manifest/manifest-problems.ts';
import { type RawTemplate, TemplateSchema } from '../../manifest/manifest-schema.ts';
import { parseYaml } from '../../manifest/parse-yaml.ts';
import { TypesFailure } from '../../template-types/management-connection.ts';
import { bodyExtensions, bodyFile, settingsFile, type TemplateCode } from './template-files.ts';

/** A template of a folder, ready to push. */
export interface FolderTemplate {
  readonly id: string;
  readonly code: TemplateCode;
  /** Email of the user recorded as creator, for a new template. */
  readonly createdBy: string | undefined;
  /** Image contents by SHA-256. */
  readonly contents: ReadonlyMap<string, Buffer>;
}

const maxSettingsBytes = 2 * 1024 * 1024;

/** The ids of the templates that a folder has. @throws TypesFailure if it can't be read */
export async function listTemplateFolders(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory() && /^[A-Za-z0-9_-]{1,64}$/.test(entry.name))
      .map(({ name }) => name)
      .sort();
  } catch (cause) {
    throw new TypesFailure(`Can’t read the folder ${folder}: ${(cause as Error).message}`, {
      cause,
    });
  }
}

/**
 * Reads a template: `template.yaml` is its entry in a manifest, without `id`, and its parts are in `body.…` files.
 * @returns undefined if the folder has no such file
 * @throws ManifestError with every problem
 */
export async function readTemplateFolder(
  parent: string,
  id: string,
): Promise<FolderTemplate | undefined> {
  const folder = join(parent, id);
  const text = await readSettings(folder);
  if (text === undefined) return undefined;
  const { value, locate } = parseYaml(text);
  const problems = new ProblemCollector(locate);
  const raw = checkEntry(value, id, problems);
  const files = await addFiles(folder, raw);
  await requireInside(folder, files, problems);
  problems.throwIfAny();
  const built = await buildTemplate(files, [], { files: new ManifestFiles(folder), problems });
  problems.throwIfAny();
  return {
    id,
    createdBy: (value as { readonly createdBy?: string }).createdBy,
    contents: new Map(built.imageContents.map(({ sha256, content }) => [sha256, content])),
    code: {
      ...built.source,
      name: built.name,
      sender: built.sender,
      whenUncertain: built.whenUncertain ?? 'resend',
      freshnessMinutes: built.freshnessSeconds / 60,
    },
  };
}

async function readSettings(folder: string): Promise<string | undefined> {
  const path = join(folder, settingsFile);
  try {
    const stats = await lstat(path);
    if (stats.isFile() && stats.size <= maxSettingsBytes) return await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  throw new TypesFailure(`${path} is no file, or larger than ${maxSettingsBytes} bytes`);
}

const unknownCreator = 'nobody@signalpost.invalid';

function checkEntry(value: unknown, id: string, problems: ProblemCollector): RawTemplate {
  const ajv = new Ajv({ allErrors: true, verbose: true, allowUnionTypes: true });
  ajv.addVocabulary(['patternErrorMessage']);
  const check = ajv.compile<RawTemplate>(TemplateSchema);
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  const entry = isMap ? { createdBy: unknownCreator, ...value, id } : value;
  if (isMap && 'id' in value) problems.add(['id'], 'is the name of the folder; remove it');
  if (!check(entry))
    for (const { path, message } of describeSchemaErrors(check.errors ?? [], entry))
      problems.add(path, message);
  problems.throwIfAny();
  return entry as RawTemplate;
}

type AnyPart = Pick<RawTemplate, 'html' | 'mjml' | 'text'>;

/** Parts that `template.yaml` doesn't name are in the `body` files that exist. */
async function addFiles(folder: string, raw: RawTemplate): Promise<RawTemplate> {
  const names = new Set(await readdir(folder));
  const partsOf = (entry: AnyPart, locale?: string): AnyPart =>
    Object.fromEntries(
      (Object.keys(bodyExtensions) as (keyof typeof bodyExtensions)[])
        .map((part) => [part, bodyFile(part, locale)] as const)
        .filter(([part, file]) => entry[part] === undefined && names.has(file))
        .map(([part, file]) => [part, { file }]),
    );
  const { variants } = raw as { readonly variants?: Readonly<Record<string, AnyPart>> };
  const filled = Object.entries(variants ?? {}).map(([locale, entry]) => [
    locale,
    { ...entry, ...partsOf(entry, locale) },
  ]);
  return {
    ...raw,
    ...partsOf(raw),
    ...(filled.length === 0 ? {} : { variants: Object.fromEntries(filled) }),
  };
}

/** A pull request must not make CI read and print other files, such as the environment of the process. */
async function requireInside(
  folder: string,
  raw: RawTemplate,
  problems: ProblemCollector,
): Promise<void> {
  const root = `${await realpath(folder)}${sep}`;
  for (const file of filesIn(raw)) {
    const real = await realpath(resolve(folder, file)).catch(() => undefined);
    if (real !== undefined && !real.startsWith(root))
      problems.add([], `names ${JSON.stringify(file)}, which is outside of the template’s folder`);
  }
}

function filesIn(value: unknown, depth = 0): string[] {
  if (typeof value !== 'object' || value === null || depth > 4) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    name === 'file' && typeof member === 'string' ? [member] : filesIn(member, depth + 1),
  );
}

/** Adds the folder to the problems of a template. */
export function describeFolderProblems(id: string, { problems }: ManifestError): string {
  return problems
    .map(({ path, line, message }) => {
      const where = `${id}/${settingsFile}${line === undefined ? '' : `:${line}`}`;
      return `${where}: ${path === '' ? message : `${path} ${message}`}\n`;
    })
    .join('');
}
