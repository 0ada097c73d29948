import { access, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TypesFailure } from '../../template-types/management-connection.ts';
import { type CommandShell, type JsonOption, printResult } from '../shell.ts';
import { settingsFile, templateFiles } from '../template/template-files.ts';
import { type ConvertedField, type ConvertedMarkup, convertMarkup } from './convert-markup.ts';
import {
  languages,
  type Product,
  type ProductTemplate,
  readProductTemplates,
} from './product-templates.ts';

export interface ImportTemplatesOptions extends JsonOption {
  readonly dir?: string;
  readonly force?: boolean;
  readonly strict?: boolean;
}

/**
 * Writes the templates of another product into a folder for `template push`, and says what has no counterpart.
 * @param paths JSON files with the product's API responses, one for each template
 * @returns the exit code: 1 if something has no counterpart and `strict` is set
 * @throws TypesFailure for a file that isn't such a response, or a template that already exists
 */
export async function importTemplates(
  product: Product,
  paths: readonly string[],
  { dir, force = false, strict = false, json = false }: ImportTemplatesOptions,
  shell: CommandShell,
): Promise<number> {
  if (dir === undefined) throw new TypesFailure('--dir is required: the folder for the templates');
  const templates = readProductTemplates(product, await Promise.all(paths.map(readJson)));
  const ids = templates.map(({ id }) => id);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) throw new TypesFailure(`Two templates would be ${twice}; rename one`);
  if (!force)
    for (const id of ids)
      if (await exists(join(dir, id)))
        throw new TypesFailure(`${join(dir, id)} exists; --force overwrites it`);
  let lines = 0;
  for (const template of templates) {
    const notes = await writeProductTemplate(product, template, join(dir, template.id));
    lines += notes.length;
    const summary = `${template.id}: written${notes.length === 0 ? '' : ', please check'}`;
    const text = [summary, ...notes.map((note) => `  ${note}`)].join('\n');
    printResult(shell, { json }, text, { template: template.id, notes });
  }
  return strict && lines > 0 ? 1 : 0;
}

async function readJson(path: string): Promise<readonly [string, unknown]> {
  try {
    return [path, JSON.parse(await readFile(path, 'utf8'))];
  } catch (cause) {
    const reason = cause instanceof SyntaxError ? 'is not JSON' : 'can’t be read';
    throw new TypesFailure(`${path} ${reason}`, { cause });
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

async function writeProductTemplate(
  product: Product,
  { name, subject, html, text, defaults, notes }: ProductTemplate,
  folder: string,
): Promise<string[]> {
  const convert = (source: string): ConvertedMarkup => convertMarkup(source, languages[product]);
  const parts: [file: string, part: ConvertedMarkup][] = [[settingsFile, convert(subject)]];
  if (html !== undefined) parts.push(['body.html', convert(html)]);
  if (text !== undefined) parts.push(['body.txt', convert(text)]);
  const [, htmlPart] = parts.find(([file]) => file === 'body.html') ?? [];
  const [, textPart] = parts.find(([file]) => file === 'body.txt') ?? [];
  const files = templateFiles({
    name,
    subject: parts[0]?.[1].text ?? '',
    html: htmlPart?.text,
    text: textPart?.text,
    fields: settingsOf(merge(parts.map(([, { fields }]) => fields)), defaults),
  });
  await mkdir(folder, { recursive: true });
  for (const [file, content] of files) await writeFile(join(folder, file), content);
  return [
    ...notes,
    ...parts.flatMap(([file, { problems }]) =>
      problems.map(({ line, tag, reason }) =>
        file === settingsFile ? `subject: ${tag} ${reason}` : `${file}:${line}: ${tag} ${reason}`,
      ),
    ),
  ];
}

type Fields = Map<string, ConvertedField>;

/** The fields of all parts; one that is a list somewhere is a list. */
function merge(parts: readonly Fields[]): Fields {
  const all: Fields = new Map();
  for (const part of parts)
    for (const [name, field] of part) {
      const known = all.get(name);
      if (known === undefined || known.kind === 'text') {
        if (field.kind !== 'text') all.set(name, { ...field, fields: new Map(field.fields) });
        else all.set(name, { kind: 'text', default: known?.default || field.default });
      } else if (field.kind !== 'text')
        all.set(name, { ...known, fields: merge([known.fields, field.fields]) });
    }
  return all;
}

/**
 * Fields that a condition asks for may be absent there, so they get an empty default. The others are required, as in every
 * template here.
 */
function settingsOf(
  fields: Fields,
  defaults: Readonly<Record<string, string>> = {},
): Record<string, unknown> {
  const settings = [...fields].map(([name, field]) => {
    if (field.kind !== 'text')
      return [
        name,
        {
          kind: field.kind,
          default: field.kind === 'list' ? [] : {},
          fields: settingsOf(field.fields),
        },
      ] as const;
    const value = defaults[name] ?? field.default;
    return [name, value === undefined ? {} : { default: value }] as const;
  });
  return Object.fromEntries(settings.filter(([, value]) => Object.keys(value).length > 0));
}
