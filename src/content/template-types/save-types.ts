import { existsSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import process from 'node:process';
import { TypesFailure } from './management-connection.ts';
import { readTypes } from './read-types.ts';
import { type FieldShape, inOrder, type TemplateShape } from './template-shape.ts';
import { readOpenapi, writeOpenapi } from './write-openapi.ts';
import { writeTypes } from './write-types.ts';

/** What changed from the committed types to the published templates, one line each; empty if nothing did. */
export function compareTypes(
  before: readonly TemplateShape[],
  after: readonly TemplateShape[],
): string[] {
  return paired(before, after, ({ id }) => id).flatMap(([id, old, now]) => {
    const name = show(id);
    if (old === undefined) return [`${name} was added`];
    if (now === undefined) return [`${name} was removed`];
    return [
      ...compareFields(old.fields, now.fields, ''),
      ...compareLocales(old.locales ?? [], now.locales ?? []),
    ].map((change) => `${name}: ${change}`);
  });
}

function compareFields(
  before: readonly FieldShape[],
  after: readonly FieldShape[],
  prefix: string,
): string[] {
  return paired(before, after, ({ name }) => name).flatMap(([name, old, now]) => {
    const path = `${prefix}${show(name)}`;
    if (old === undefined)
      return [`field ${path} was added and is ${now?.required ? 'required' : 'optional'}`];
    if (now === undefined) return [`field ${path} was removed`];
    if (old.kind !== now.kind) return [`field ${path} is now ${now.kind}, not ${old.kind}`];
    const need =
      old.required === now.required
        ? []
        : [`field ${path} is now ${now.required ? 'required' : 'optional'}`];
    const inner = now.kind === 'list' ? `${path}[].` : `${path}.`;
    return [...need, ...compareFields(old.fields ?? [], now.fields ?? [], inner)];
  });
}

function compareLocales(before: readonly string[], after: readonly string[]): string[] {
  return paired(before, after, (locale) => locale).flatMap(([locale, old, now]) => {
    if (old === undefined) return [`language ${show(locale)} was added`];
    return now === undefined ? [`language ${show(locale)} was removed`] : [];
  });
}

function paired<Item>(
  before: readonly Item[],
  after: readonly Item[],
  nameOf: (item: Item) => string,
): [string, Item | undefined, Item | undefined][] {
  const old = new Map(before.map((item) => [nameOf(item), item]));
  const now = new Map(after.map((item) => [nameOf(item), item]));
  const names = inOrder([...new Set([...old.keys(), ...now.keys()])], (name) => name);
  return names.map((name) => [name, old.get(name), now.get(name)]);
}

/** Unusual names are quoted, so that they can't look like other output. */
function show(name: string): string {
  return /^[\p{L}\p{N}_$-][\p{L}\p{N}_$ .-]*$/u.test(name) ? name : JSON.stringify(name);
}

/** Where text is printed. */
export interface Output {
  out(text: string): void;
  err(text: string): void;
}

interface SaveTypesOptions {
  /** The declaration file, or an OpenAPI document if it ends in `.json`; undefined: standard output. */
  readonly out?: string | undefined;
  /** Compares the file instead of writing it. */
  readonly check?: boolean | undefined;
}

/**
 * Writes the types of templates, or compares them with the file.
 * @returns the exit code: 0, or 1 if the file doesn't fit the templates
 * @throws TypesFailure if the file can't be read or written
 */
export async function saveTypes(
  templates: readonly TemplateShape[],
  { out, check = false }: SaveTypesOptions,
  terminal: Output,
): Promise<number> {
  if (out !== undefined) requireOwnName(out);
  if (check) return await checkTypes(templates, out, terminal);
  const text = isOpenapi(out) ? writeOpenapi(templates) : writeTypes(templates);
  if (out === undefined) {
    terminal.out(text);
    return 0;
  }
  const draft = `${out}.${process.pid}.tmp`;
  try {
    await writeFile(draft, text);
    await rename(draft, out);
  } catch (cause) {
    throw new TypesFailure(`Can’t write ${out}: ${(cause as Error).message}`, { cause });
  }
  const count = `${templates.length} template${templates.length === 1 ? '' : 's'}`;
  terminal.err(`Wrote ${out}: ${count}.\n`);
  return 0;
}

/** @throws TypesFailure if TypeScript would ignore the file: it takes `X.d.ts` for the output of `X.ts` */
function requireOwnName(out: string): void {
  const name = out.replace(/\.d\.([cm]?)ts$/, '.$1ts');
  if (name === out) return;
  const source = [name, name.replace(/\.ts$/, '.tsx')].find((path) => existsSync(path));
  if (source === undefined) return;
  throw new TypesFailure(
    `TypeScript would ignore ${out} beside ${source}. Choose another name, such as signalpost-templates.d.ts.`,
  );
}

async function checkTypes(
  templates: readonly TemplateShape[],
  out: string | undefined,
  terminal: Output,
): Promise<number> {
  if (out === undefined) throw new TypesFailure('--check needs --out: the file to check');
  const changes = compareTypes(await readCommitted(out), templates);
  if (changes.length === 0) return 0;
  const lines = changes.map((change) => `  ${change}\n`).join('');
  terminal.out(
    `${out} doesn’t fit the published templates:\n${lines}Run the command without --check and commit the file.\n`,
  );
  return 1;
}

async function readCommitted(out: string): Promise<TemplateShape[]> {
  if (isOpenapi(out)) return await readOpenapiFile(out);
  const text = await readText(out);
  try {
    return readTypes(text);
  } catch (error) {
    if (!(error instanceof TypesFailure)) throw error;
    throw new TypesFailure(`${out} ${error.message}`);
  }
}

function isOpenapi(out: string | undefined): boolean {
  return out?.endsWith('.json') ?? false;
}

/** The templates of an OpenAPI document that was written before. @throws TypesFailure */
export async function readOpenapiFile(path: string): Promise<TemplateShape[]> {
  const text = await readText(path);
  try {
    return readOpenapi(text);
  } catch (error) {
    if (!(error instanceof TypesFailure)) throw error;
    throw new TypesFailure(`${path} ${error.message}`);
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new TypesFailure(`Can’t read ${path}: ${(cause as Error).message}`, { cause });
  }
}
