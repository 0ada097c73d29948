import { type DefaultTreeAdapterTypes, parse } from 'parse5';
import { isLonger } from '../../../base/values/is-longer.ts';

type Node = DefaultTreeAdapterTypes.Node;
type Element = DefaultTreeAdapterTypes.Element;

/** Advice about a rendered message; it never blocks sending. */
export interface Hint {
  readonly kind: 'size' | 'spam' | 'accessibility' | 'content';
  /** Stable identifier. */
  readonly rule: string;
  readonly message: string;
}

export interface RenderedContent {
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
export function findHints(content: RenderedContent): Hint[] {
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
