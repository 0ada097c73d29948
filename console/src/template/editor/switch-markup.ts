import type { TemplateVariant } from '../../api/management.generated.ts';
import { emptyMarkup, type MarkupKind } from './blocks.ts';
import type { EditedContent } from './use-draft.ts';

/** The kind of markup that messages use. */
export function markupOf({ html }: TemplateVariant): MarkupKind {
  return html === undefined ? 'mjml' : 'html';
}

/** Changes the default content, or a variant. */
export function changeBody(
  content: EditedContent,
  variant: string | undefined,
  part: Partial<TemplateVariant>,
): EditedContent {
  const shown = variant === undefined ? undefined : content.variants?.[variant];
  return shown === undefined || variant === undefined
    ? { ...content, ...part }
    : { ...content, variants: { ...content.variants, [variant]: { ...shown, ...part } } };
}

const rootWithoutLanguage = /<(html|mjml)\b(?![^>]*\slang=)/i;

/** The markup of the default content or of a variant, with its language at the outermost element. */
export function withLanguage(
  content: EditedContent,
  variant: string | undefined,
): Partial<TemplateVariant> {
  const shown = (variant === undefined ? undefined : content.variants?.[variant]) ?? content;
  const markup = markupOf(shown);
  const source = shown[markup] ?? '';
  const language = variant ?? content.locale ?? 'en';
  const root = `<${markup} lang="${language}"`;
  return {
    [markup]:
      source.search(new RegExp(`<${markup}\\b`, 'i')) === -1
        ? `${root}>\n${source.trimEnd()}\n</${markup}>\n`
        : source.replace(rootWithoutLanguage, root),
  };
}

const tablePart = /<!--.*?-->|<(\/?)(table|mj-table|th)\b((?:[^>"']|"[^"]*"|'[^']*')*)>/gis;

/**
 * The markup of the default content or of a variant, with a role at the tables without header cells; undefined if each of them
 * has one.
 */
export function withTableRoles(
  content: EditedContent,
  variant: string | undefined,
): Partial<TemplateVariant> | undefined {
  const shown = (variant === undefined ? undefined : content.variants?.[variant]) ?? content;
  const markup = markupOf(shown);
  const source = shown[markup] ?? '';
  const tables: { readonly nameEnd: number; needsRole: boolean }[] = [];
  const open: typeof tables = [];
  for (const { index, 1: slash, 2: name, 3: attributes = '' } of source.matchAll(tablePart)) {
    const table = open.at(-1);
    if (name === undefined || attributes.endsWith('/')) continue;
    if (/^th$/i.test(name)) {
      if (table !== undefined) table.needsRole = false;
    } else if (slash === '') {
      const nameEnd = index + 1 + name.length;
      const opened = { nameEnd, needsRole: !/\srole\s*=/i.test(attributes) };
      tables.push(opened);
      open.push(opened);
    } else open.pop();
  }
  const ends = tables.filter(({ needsRole }) => needsRole).map(({ nameEnd }) => nameEnd);
  if (ends.length === 0) return undefined;
  const parts = [0, ...ends].map((start, index) => source.slice(start, ends[index]));
  return { [markup]: parts.join(' role="presentation"') };
}

/** Uses the other kind of markup. Nothing is converted: each kind is kept as it was left. */
export function switchMarkup(
  content: EditedContent,
  variant: string | undefined,
  to: MarkupKind,
): EditedContent {
  const shown = variant === undefined ? content : content.variants?.[variant];
  if (shown === undefined || markupOf(shown) === to) return content;
  const from = markupOf(shown);
  const place = variant ?? 'default';
  const { [place]: kept = emptyMarkup[to], ...others } = content.unusedMarkup ?? {};
  const left = shown[from] ?? '';
  const isEmpty = left.trim() === '' || left === emptyMarkup[from];
  const changed = changeBody(content, variant, { [to]: kept, [from]: undefined });
  return { ...changed, unusedMarkup: isEmpty ? others : { ...others, [place]: left } };
}

/** The unused markup without that of a variant that was removed. */
export function withoutUnused(
  { unusedMarkup }: EditedContent,
  variant: string,
): Pick<EditedContent, 'unusedMarkup'> {
  if (unusedMarkup === undefined) return {};
  const { [variant]: _, ...others } = unusedMarkup;
  return { unusedMarkup: others };
}
