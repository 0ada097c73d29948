import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { stringify } from 'yaml';
import { isObject } from '../../../base/values/is-object.ts';
import { TypesFailure } from '../../../content/template-types/management-connection.ts';
import { settingsFile, templateFiles } from './template-folder.ts';

/** What a component file exports as `template`. */
interface ReactSettings {
  /** Default: the name of the file. */
  readonly id?: string;
  readonly name?: string;
  readonly subject: string;
  readonly previewText?: string;
  readonly sender?: string;
  readonly createdBy?: string;
  /** Settings of fields, by the name of the prop. */
  readonly fields?: Readonly<Record<string, object>>;
}

interface ReactFile {
  readonly default?: ReactComponent;
  readonly template?: ReactSettings;
}

interface ReactComponent {
  readonly PreviewProps?: Readonly<Record<string, unknown>>;
}

/** Packages of the app whose files these are. */
interface AppPackages {
  readonly build: (options: object) => Promise<unknown>;
  readonly createElement: (component: unknown, props: object) => unknown;
  readonly render: (element: unknown, options?: object) => Promise<string>;
}

/**
 * Compiles components of React Email into the folders of templates. Each prop of a component's `PreviewProps` is a field: a
 * text, a list of objects or an object, with its preview value as the sample.
 * @param dir gets a folder for each template
 * @returns their IDs
 * @throws TypesFailure naming the file that can't be compiled, and the package that the app lacks
 */
export async function compileReactTemplates(
  paths: readonly string[],
  dir: string,
): Promise<string[]> {
  const ids: string[] = [];
  for (const path of paths) {
    const { id, files } = await compileReactTemplate(resolve(path));
    if (ids.includes(id)) throw new TypesFailure(`Two files are the template ${id}`);
    ids.push(id);
    await mkdir(join(dir, id), { recursive: true });
    for (const [name, text] of files) await writeFile(join(dir, id, name), text);
  }
  return ids;
}

async function compileReactTemplate(
  path: string,
): Promise<{ readonly id: string; readonly files: Map<string, string> }> {
  const packages = await loadPackages(path);
  const { default: component, template } = await loadComponent(path, packages);
  if (component === undefined) throw new TypesFailure(`${path} has no default export`);
  if (template === undefined)
    throw new TypesFailure(`${path} must export template, with a subject at least`);
  const id = template.id ?? basename(path, extname(path));
  const samples = Object.entries(component.PreviewProps ?? {});
  const props = Object.fromEntries(
    samples.map(([name, value]) => [name, placeholder(name, value)]),
  );
  const element = packages.createElement(component, props);
  const html = await packages.render(element);
  const text = await packages.render(element, { plainText: true });
  const fields = Object.fromEntries(
    samples.map(([name, value]) => [name, { ...settingsOf(value), ...template.fields?.[name] }]),
  );
  const { name = id, subject, previewText, sender, createdBy } = template;
  const files = templateFiles({ name, subject, previewText, sender, html, text, fields });
  if (createdBy !== undefined)
    files.set(settingsFile, `${files.get(settingsFile)}${stringify({ createdBy })}`);
  return { id, files };
}

/** What a component gets in place of a value, so that it renders the tag of a field. */
function placeholder(name: string, sample: unknown): unknown {
  if (Array.isArray(sample)) {
    const item = placeholdersOf(isObject(sample[0]) ? sample[0] : {});
    return sectionList(name, item);
  }
  // A component reads the members of an object; their names are unique in the template.
  if (isObject(sample))
    return Object.fromEntries(
      Object.entries(sample).map(([member]) => [member, `{{#${name}}}{{${member}}}{{/${name}}}`]),
    );
  return `{{${name}}}`;
}

function placeholdersOf(sample: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(sample).map(([name, value]) => [name, placeholder(name, value)]),
  );
}

/** A list with one item whose `map` puts the section's tags around what it renders. */
function sectionList(name: string, item: unknown): unknown[] {
  const list = [item];
  const map = (render: (item: unknown, index: number, list: unknown[]) => unknown) => [
    `{{#${name}}}`,
    render(item, 0, list),
    `{{/${name}}}`,
  ];
  return Object.defineProperty(list, 'map', { value: map });
}

function settingsOf(sample: unknown): object {
  if (Array.isArray(sample))
    return { kind: 'list', sample, fields: fieldsOf(isObject(sample[0]) ? sample[0] : {}) };
  if (isObject(sample)) return { kind: 'object', sample, fields: fieldsOf(sample) };
  return { sample: String(sample) };
}

function fieldsOf(sample: Readonly<Record<string, unknown>>): object {
  const nested = Object.entries(sample).filter(([, value]) => typeof value === 'object');
  return Object.fromEntries(
    nested.map(([name, value]) => {
      const { sample: _, ...settings } = settingsOf(value) as { readonly sample?: unknown };
      return [name, settings];
    }),
  );
}

async function loadPackages(path: string): Promise<AppPackages> {
  const find = createRequire(path);
  const load = async (name: string): Promise<Record<string, unknown>> => {
    try {
      const loaded = await import(pathToFileURL(find.resolve(name)).href);
      return { ...loaded, ...loaded.default };
    } catch (cause) {
      throw new TypesFailure(`${name} is not installed where ${path} is: npm install ${name}`, {
        cause,
      });
    }
  };
  const [{ build }, { createElement }, { render }] = [
    await load('esbuild'),
    await load('react'),
    await load('@react-email/render'),
  ];
  return { build, createElement, render } as unknown as AppPackages;
}

async function loadComponent(path: string, { build }: AppPackages): Promise<ReactFile> {
  // Beside the file, so that it finds the app's packages.
  const folder = await mkdtemp(join(dirname(path), '.signalpost-'));
  try {
    const outfile = join(folder, 'component.mjs');
    await build({
      entryPoints: [path],
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      packages: 'external',
      jsx: 'automatic',
      logLevel: 'silent',
    });
    return (await import(pathToFileURL(outfile).href)) as ReactFile;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new TypesFailure(`${path} can’t be compiled: ${reason}`, { cause });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
