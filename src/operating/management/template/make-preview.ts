import { type DefaultTreeAdapterTypes, parse } from 'parse5';
import { isLonger } from '../../../base/values/is-longer.ts';
import { loadTemplate } from '../../../content/rendering/load-template.ts';
import { renderMessage } from '../../../content/rendering/render-message.ts';
import { renderLine } from '../../../content/rendering/render-subject.ts';
import { RenderingTooLarge } from '../../../content/rendering/rendering-too-large.ts';
import { isStackOverflow } from '../../../content/template/compile-problems.ts';
import type { CompileResult } from '../../../content/template/compile-source.ts';
import { compileVersion } from '../../../content/template/compile-version.ts';
import type {
  CompiledTemplate,
  MarkupFormat,
} from '../../../content/template/compiled-template.ts';
import { indexFields } from '../../../content/template/field-index.ts';
import type { GivenValues } from '../../../content/template/field-value.ts';
import { guardsOf } from '../../../content/template/guarded-field.ts';
import {
  formattingLocale,
  localizeVersion,
  matchVariant,
} from '../../../content/template/locale.ts';
import { parseOverride } from '../../../content/template/parse-override.ts';
import type { TemplateProblem } from '../../../content/template/template-problem.ts';
import { openScope } from '../../../content/template/value-scope.ts';
import { findValueProblems, sampleValues } from './sample-values.ts';
import type { VersionContent } from './template-views.ts';

/** The input of a preview; plain data, so it can be sent to a thread. */
export interface PreviewJob {
  readonly content: VersionContent;
  /** How a version reads its markup; undefined: as new versions do. */
  readonly format: MarkupFormat | undefined;
  readonly values: GivenValues | undefined;
  /** Canonical; undefined: the default content. */
  readonly locale: string | undefined;
  /** Overrides, already validated. */
  readonly subjectLine: string | undefined;
  readonly previewText: string | undefined;
}

export interface Preview {
  readonly problems: readonly TemplateProblem[];
  readonly fields: CompileResult['fields'];
  /** A value that fits for each field. */
  readonly examples: GivenValues;
  /** The locale of the variant that is shown; null: the default content. */
  readonly variant: string | null;
  readonly rendered: RenderedContent | null;
  readonly hints: readonly Hint[];
}

/** Compiles and renders a template and collects hints, synchronously and without a time limit. */
export async function makePreview(job: PreviewJob): Promise<Preview> {
  const source = { ...job.content };
  const locales = Object.keys(source.variants ?? {});
  const variant = matchVariant({ ...source, locales }, job.locale) ?? null;
  const result = await compileVersion({ source, format: job.format, only: variant });
  const { fields, problems } = result;
  const compiled = result.compiled && localizeVersion(result.compiled, job.locale);
  const examples = sampleValues(result, job.content);
  const unrendered = { fields, examples, variant, rendered: null, hints: [] };
  if (compiled === null) return { ...unrendered, problems };
  const unusable = inputProblems(compiled, job);
  if (unusable.length > 0) return { ...unrendered, problems: [...problems, ...unusable] };
  try {
    const values = sampleValues(result, job.content, job.values, (name) => `{{${name}}}`);
    const rendered = render(compiled, values, job);
    const hints = [...guardHints(fields, source.fields), ...hintsOf(rendered)];
    return { ...unrendered, problems, rendered, hints };
  } catch (error) {
    if (!(error instanceof RenderingTooLarge)) throw error;
    const shown = variant === null ? source : source.variants?.[variant];
    const part = shown?.mjml === undefined ? 'html' : 'mjml';
    const problem = {
      severity: 'error',
      part,
      rule: 'too-large',
      message: `with these values ${error.message}`,
    } as const;
    return { ...unrendered, problems: [...problems, problem] };
  }
}

function render(
  compiled: CompiledTemplate,
  values: GivenValues,
  { subjectLine, previewText: override, locale }: PreviewJob,
): RenderedContent {
  const message = renderMessage(loadTemplate(compiled), {
    values,
    locale,
    subjectLine,
    previewText: override,
  });
  const own = override === undefined ? compiled.previewText : overrideNodes(override, compiled);
  const scope = openScope(indexFields(compiled.fields), values);
  const previewText = renderLine(own, scope, formattingLocale(compiled.locale, locale));
  return { subject: message.subject, previewText, html: message.html, text: message.text };
}

/** Values and overrides that don't fit the template. */
function inputProblems(compiled: CompiledTemplate, job: PreviewJob): TemplateProblem[] {
  const problems = findValueProblems(compiled, job.values ?? {}).map(({ place, reason }) => ({
    severity: 'error' as const,
    part: 'fields' as const,
    rule: 'bad-value',
    message: `the value of ${place} ${reason}`,
  }));
  const overrides = [
    ['subject', job.subjectLine],
    ['previewText', job.previewText],
  ] as const;
  const malformed = overrides.flatMap(([part, text]) => {
    const parsed = text === undefined ? undefined : parseOverride(text, compiled);
    return parsed === undefined || parsed.ok
      ? []
      : [{ severity: 'error' as const, part, rule: 'bad-override', message: parsed.reason }];
  });
  return [...problems, ...malformed];
}

function overrideNodes(text: string, compiled: CompiledTemplate) {
  const parsed = parseOverride(text, compiled);
  return parsed.ok ? parsed.override.nodes : [];
}

/** Such as “Reset URL” or “magicLink”. */
const oneTimeLink = [
  /link|url|uri/i,
  /reset|magic|confirm|verif|log ?-?_?in|sign ?-?_?in|activat|invit|accept|password/i,
];

/** Fields that look like one-time links, which scanners would use up. */
function guardHints(fields: Preview['fields'], settings: VersionContent['fields'] = {}): Hint[] {
  const guards = guardsOf(settings) ?? {};
  return fields
    .filter(({ name, kind }) => kind === undefined && oneTimeLink.every((part) => part.test(name)))
    .filter(({ name }) => !Object.hasOwn(guards, name))
    .slice(0, 5)
    .map(({ name }) => ({
      kind: 'content',
      rule: 'unguarded-link',
      message: `${name} looks like a one-time link. Guard it in the field’s options, so that mail scanners can’t use it up.`,
    }));
}

/** Skips the hints if values nest elements too deeply to traverse. */
function hintsOf(rendered: RenderedContent): Hint[] {
  try {
    return findHints(rendered);
  } catch (error) {
    if (!isStackOverflow(error)) throw error;
    return [];
  }
}

type Node = DefaultTreeAdapterTypes.Node;
type Element = DefaultTreeAdapterTypes.Element;

/** Advice about a rendered message; it never blocks sending. */
interface Hint {
  readonly kind: 'size' | 'spam' | 'accessibility' | 'content';
  /** Stable identifier. */
  readonly rule: string;
  readonly message: string;
}

interface RenderedContent {
  readonly subject: string;
  readonly previewText: string;
  readonly html: string | null;
  readonly text: string | null;
}

/** Gmail clips the HTML of a message beyond this size. */
const gmailClipBytes = 102 * 1024;
const maxSubjectLength = 70;
const shorteners = /^https?:\/\/(?:bit\.ly|tinyurl\.com|goo\.gl|t\.co|ow\.ly|is\.gd)\//i;
const vagueLinkTexts = /^(?:click here|here|link|more|read more|this)[.!]?$/i;

/** Likely problems with spam filters, mail clients and assistive technology. */
function findHints(content: RenderedContent): Hint[] {
  return [...subjectHints(content), ...htmlHints(content)];
}

function subjectHints({ subject, previewText }: RenderedContent): Hint[] {
  const hints: Hint[] = [];
  const addHint = (rule: string, message: string, kind: Hint['kind'] = 'content') =>
    hints.push({ kind, rule, message });
  if (subject.trim() === '') addHint('empty-subject', 'The subject is empty.');
  if (isLonger(subject, maxSubjectLength))
    addHint(
      'long-subject',
      `The subject is longer than ${maxSubjectLength} characters; phones truncate it.`,
    );
  if (/\p{Lu}{4}/u.test(subject) && subject === subject.toUpperCase())
    addHint('shouting-subject', 'The subject is in all caps, which looks like spam.', 'spam');
  if (/[!?]{2}|\${2}|€{2}/.test(subject))
    addHint(
      'loud-subject',
      'The subject repeats !, ? or a currency sign, which looks like spam.',
      'spam',
    );
  if (previewText.trim() === '')
    addHint(
      'no-preview',
      'There is no preview text. Inboxes show the first words of the body instead.',
    );
  return hints;
}

function htmlHints({ html, text }: RenderedContent): Hint[] {
  const hints: Hint[] = [];
  const addHint = (kind: Hint['kind'], rule: string, message: string) =>
    hints.push({ kind, rule, message });
  if (html === null) return hints;
  if (Buffer.byteLength(html) > gmailClipBytes)
    addHint('size', 'clipped', 'The HTML is larger than 102 KiB; Gmail clips it.');
  if (text === null || text.trim() === '') addHint('spam', 'no-text', 'There is no text part.');
  const elements = elementsOf(parse(html));
  const named = (name: string) => elements.filter(({ tagName }) => tagName === name);
  const images = named('img');
  // A table with header cells or another role isn't there for the layout.
  const dataTables = new Set(named('th').map(tableOf));
  if (!elements.some((element) => element.tagName === 'html' && attribute(element, 'lang')))
    addHint('accessibility', 'no-language', 'The email doesn’t declare its language (lang).');
  if (images.some((image) => attribute(image, 'alt') === undefined))
    addHint('accessibility', 'image-without-alt', 'An image has no alt attribute.');
  const layoutTables = named('table').filter(
    (table) =>
      /^(?:presentation|none|)$/.test(attribute(table, 'role') ?? '') && !dataTables.has(table),
  );
  const withoutRole = layoutTables.filter((table) => !attribute(table, 'role')).length;
  if (withoutRole > 0)
    addHint(
      'accessibility',
      'layout-table',
      layoutTables.length === 1
        ? 'The layout table has no role="presentation".'
        : `${withoutRole} of ${layoutTables.length} layout tables ${withoutRole === 1 ? 'has' : 'have'} no role="presentation".`,
    );
  const words = textOf(parse(html)).trim().length;
  if (images.length > 0 && words < 100)
    addHint('spam', 'mostly-images', 'The message is mostly images, with hardly any text.');
  for (const link of named('a')) {
    const href = attribute(link, 'href') ?? '';
    const label = textOf(link).trim();
    if (shorteners.test(href))
      addHint('spam', 'short-link', `A link uses a URL shortener: ${href}`);
    if (/^http:/i.test(href)) addHint('spam', 'insecure-link', `A link doesn’t use HTTPS: ${href}`);
    if (vagueLinkTexts.test(label))
      addHint(
        'accessibility',
        'vague-link',
        `The link text “${label}” doesn’t say where it leads.`,
      );
    const hasImageText = elementsOf(link).some(
      (element) => element.tagName === 'img' && attribute(element, 'alt'),
    );
    if (label === '' && !hasImageText && href !== '')
      addHint('accessibility', 'empty-link', `A link has no text: ${href}`);
  }
  return unique(hints);
}

function unique(hints: readonly Hint[]): Hint[] {
  const seen = new Map(hints.map((hint) => [`${hint.rule} ${hint.message}`, hint]));
  return [...seen.values()].slice(0, 50);
}

function elementsOf(node: Node): Element[] {
  const children = 'childNodes' in node ? node.childNodes.flatMap(elementsOf) : [];
  return 'tagName' in node ? [node, ...children] : children;
}

/** The table that a cell belongs to. */
function tableOf(cell: Element): Node | null {
  let node: Node | null = cell;
  while (node !== null && node.nodeName !== 'table')
    node = 'parentNode' in node ? node.parentNode : null;
  return node;
}

function attribute(element: Element, name: string): string | undefined {
  return element.attrs.find((attr) => attr.name === name)?.value;
}

/** The visible text. */
function textOf(node: Node): string {
  if (node.nodeName === '#text' && 'value' in node) return node.value;
  if ('tagName' in node && /^(?:style|script|title)$/.test(node.tagName)) return '';
  return 'childNodes' in node ? node.childNodes.map(textOf).join(' ') : '';
}
