import { createHash } from 'node:crypto';
import { stringify } from 'yaml';
import type { TemplateImage } from '../../template/template-source.ts';

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
export const bodyExtensions = { html: 'html', mjml: 'mjml', text: 'txt' } as const;

/** The file of a part; a variant has its locale in the name. */
export function bodyFile(part: keyof typeof bodyExtensions, locale?: string): string {
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
