import { createHash } from 'node:crypto';
import { lstat, readdir, readFile, realpath, rename, writeFile } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { Ajv } from 'ajv';
import { stringify } from 'yaml';
import { codeOf } from '../../../base/database/sqlstate.ts';
import { isObject } from '../../../base/values/is-object.ts';
import type { TemplateImage } from '../../../content/template/template-source.ts';
import { TypesFailure } from '../../../content/template-types/management-connection.ts';
import { buildTemplate } from '../../manifest/build-template.ts';
import { describeSchemaErrors } from '../../manifest/check-schema.ts';
import { ManifestFiles } from '../../manifest/manifest-files.ts';
import { type ManifestError, ProblemCollector } from '../../manifest/manifest-problems.ts';
import { type RawTemplate, TemplateSchema } from '../../manifest/manifest-schema.ts';
import { parseYaml } from '../../manifest/parse-manifest.ts';

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
  const isMap = isObject(value);
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

/** Subject and parts of one language. */
interface CodePart {
  readonly subject: string;
  readonly previewText?: string | undefined;
  readonly html?: string | undefined;
  readonly mjml?: string | undefined;
  readonly text?: string | undefined;
}

/** A template as its folder and the management API have it. */
export interface TemplateCode extends CodePart {
  readonly name: string;
  readonly whenUncertain?: 'resend' | 'hold' | undefined;
  readonly sender?: string | undefined;
  readonly freshnessMinutes?: number | undefined;
  readonly fields?: Readonly<Record<string, unknown>> | undefined;
  readonly images?: readonly TemplateImage[] | undefined;
  readonly locale?: string | undefined;
  readonly variants?: Readonly<Record<string, CodePart>> | undefined;
}

/** The settings file of a template's folder. */
export const settingsFile = 'template.yaml';

/** The parts of a template that have files of their own, and their extensions. */
const bodyExtensions = { html: 'html', mjml: 'mjml', text: 'txt' } as const;

/** The file of a part; a variant has its locale in the name. */
function bodyFile(part: keyof typeof bodyExtensions, locale?: string): string {
  return `body.${locale === undefined ? '' : `${locale}.`}${bodyExtensions[part]}`;
}

/** The text files of a template's folder by name; the same template always gives the same ones. */
export function templateFiles(code: TemplateCode): Map<string, string> {
  const { subject, previewText, fields = {}, images = [], locale, variants = {} } = code;
  const settings = {
    name: code.name,
    subject,
    previewText,
    locale,
    // Addresses are compared without regard to case.
    sender: code.sender?.toLowerCase(),
    freshnessMinutes: code.freshnessMinutes ?? 15,
    whenUncertain: code.whenUncertain ?? 'resend',
    variants: nonEmpty(
      sorted(variants).map(([name, part]) => [
        name,
        given({ subject: part.subject, previewText: part.previewText }),
      ]),
    ),
    fields: nonEmpty(sorted(fields).map(([name, field]) => [name, sortDeep(field)])),
    images: images.length === 0 ? undefined : images.map((image, index) => entryOf(image, index)),
  };
  const files = new Map([[settingsFile, stringify(given(settings), { lineWidth: 0 })]]);
  addBodies(files, code);
  for (const [name, part] of sorted(variants)) addBodies(files, part, name);
  return files;
}

/** Where the image of a template is, from 0. */
export function imageFile({ filename }: Pick<TemplateImage, 'filename'>, index: number): string {
  return `images/${index + 1}${/\.\w{1,8}$/.exec(filename)?.[0] ?? ''}`;
}

function entryOf(image: TemplateImage, index: number): object {
  const { contentId, filename, contentType } = image;
  return { contentId, filename, contentType, content: { file: imageFile(image, index) } };
}

function addBodies(files: Map<string, string>, part: CodePart, locale?: string): void {
  for (const name of ['html', 'mjml', 'text'] as const) {
    const text = part[name];
    if (text !== undefined) files.set(bodyFile(name, locale), withLastLine(text));
  }
}

/** Editors end the last line and choose line endings, which must not count as a change. */
function withLastLine(text: string): string {
  return `${text.replace(/\r\n?/g, '\n').replace(/\n+$/, '')}\n`;
}

/** Changes with everything that a push writes, images included. */
export function hashTemplate(code: TemplateCode): string {
  const images = (code.images ?? []).map(({ sha256 }) => sha256);
  return createHash('sha256')
    .update(JSON.stringify([...templateFiles(code), images]))
    .digest('hex');
}

function sorted<Value>(record: Readonly<Record<string, Value>>): [string, Value][] {
  return Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
}

function sortDeep(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortDeep);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    sorted(value as Record<string, unknown>).map(([name, member]) => [name, sortDeep(member)]),
  );
}

function nonEmpty(entries: readonly [string, unknown][]): object | undefined {
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function given(members: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** What was last pulled from a service or pushed to it, by template. */
type SeenTemplates = Record<string, string>;

const stateFile = '.signalpost';

/**
 * Remembers, in a file of the folder, which content of each template its authors have seen. Content of the service that
 * is neither that nor the folder's was changed by someone else.
 */
export class TemplateState {
  readonly #path: string;
  readonly #place: string;
  readonly #places: Record<string, SeenTemplates>;

  private constructor(path: string, place: string, places: Record<string, SeenTemplates>) {
    this.#path = path;
    this.#place = place;
    this.#places = places;
  }

  /** @throws TypesFailure if the file is damaged */
  static async open(folder: string, place: string): Promise<TemplateState> {
    const path = join(folder, stateFile);
    try {
      const { services } = JSON.parse(await readFile(path, 'utf8')) as {
        readonly services: Record<string, SeenTemplates>;
      };
      if (typeof services === 'object' && services !== null)
        return new TemplateState(path, place, services);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return new TemplateState(path, place, {});
      if (!(error instanceof SyntaxError)) throw error;
    }
    throw new TypesFailure(`${path} is damaged. Restore it from git, or delete it and pull`);
  }

  /** The hash of the content that was seen last. */
  seen(id: string): string | undefined {
    const templates = this.#places[this.#place];
    return templates !== undefined && Object.hasOwn(templates, id) ? templates[id] : undefined;
  }

  /** Remembers a template at once, so that an interruption loses nothing. */
  async remember(id: string, hash: string): Promise<void> {
    if (this.seen(id) === hash) return;
    this.#places[this.#place] = { ...this.#places[this.#place], [id]: hash };
    const services = sortDeep(this.#places);
    const draft = `${this.#path}.${process.pid}.tmp`;
    await writeFile(draft, `${JSON.stringify({ services }, null, 2)}\n`);
    await rename(draft, this.#path);
  }
}
