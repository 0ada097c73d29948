import { type FieldShape, inOrder, type TemplateShape } from './template-shape.ts';

const header = `// Written by \`signalpost-client types\` from the published templates. Run it again after you publish.
export {};

declare module 'signalpost-client' {
  interface Templates {
`;
const footer = '  }\n}\n';

/** Max characters of a field's description. */
const maxDescription = 1_000;

/** The declaration file of templates. The same templates give the same text, in whatever order they come. */
export function writeTypes(templates: readonly TemplateShape[]): string {
  const members = inOrder(templates, ({ id }) => id).map(
    ({ id, fields, locales = [] }) => `    ${nameOf(id)}: {
      data: ${objectOf(fields, '      ')};
      locale: ${localesOf(locales)};
    };\n`,
  );
  return `${header}${members.join('')}${footer}`;
}

function localesOf(locales: readonly string[]): string {
  if (locales.length === 0) return 'never';
  return inOrder([...new Set(locales)], (locale) => locale)
    .map(quote)
    .join(' | ');
}

function objectOf(fields: readonly FieldShape[], indent: string): string {
  if (fields.length === 0) return 'Record<string, never>';
  const inner = `${indent}  `;
  const members = inOrder(fields, ({ name }) => name).map((field) => {
    const mark = field.required ? '' : '?';
    const name = nameOf(field.name);
    return `${commentOf(field.description, inner)}${inner}${name}${mark}: ${typeOf(field, inner)};\n`;
  });
  return `{\n${members.join('')}${indent}}`;
}

function typeOf({ kind, fields = [] }: FieldShape, indent: string): string {
  if (kind === 'text') return 'string';
  const object = objectOf(fields, indent);
  return kind === 'list' ? `readonly ${object}[]` : object;
}

/** Names of other letters are quoted, because two that look alike would be hard to tell apart. */
function nameOf(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quote(name);
}

/** Characters that end a line, reorder text or can't be seen are escaped. */
const unsafe = /['\\\p{C}\p{Zl}\p{Zp}]/gu;

function quote(text: string): string {
  const escaped = text.replace(unsafe, (character) => {
    if (character === "'" || character === '\\') return `\\${character}`;
    return Array.from({ length: character.length }, (_none, index) =>
      unitOf(character.charCodeAt(index)),
    ).join('');
  });
  return `'${escaped}'`;
}

function unitOf(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`;
}

function commentOf(description: string | null | undefined, indent: string): string {
  const lines = (description ?? '')
    .slice(0, maxDescription)
    .split(/[\r\n\p{Zl}\p{Zp}]+/u)
    .map((line) => line.replace(/\p{C}/gu, ' ').replaceAll('*/', '*\\/').trim())
    .filter((line) => line !== '');
  if (lines.length === 0) return '';
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join('')}${indent} */\n`;
}
