import { classifyAttribute, compileUrl } from './compile-attribute.ts';
import type { TagProblems } from './compile-problems.ts';
import type { CompiledNode, CompiledSection, CompiledUrl } from './compiled-template.ts';
import { mapHtml } from './map-html.ts';
import { NodeTreeBuilder } from './node-tree-builder.ts';
import type { TagPlaceholders } from './protect-markup.ts';

/** Elements that are invisible in the HTML part; a style that hides one is `display:none` by then. */
const HIDDEN = '[style="display:none"],[hidden],[aria-hidden="true"]'.split(',');

/**
 * Derives the text part of a template that has none: the HTML's text with its fields in place, and each link's URL
 * after its text. Fields in a URL follow the rules for URLs here too.
 */
export async function deriveText(
  html: string,
  placeholders: TagPlaceholders,
  problems: TagProblems,
  isRepeated: (name: string) => boolean,
): Promise<CompiledNode[]> {
  const urls = protectUrls(placeholders.unify(html), placeholders, problems);
  const text = await convert(urls.html);
  const tree = new NodeTreeBuilder(problems);
  for (const line of splitPlaceholders(
    dropStandaloneTags(text, placeholders),
    placeholders,
    urls,
  )) {
    if (typeof line === 'string') tree.add(line);
    else if ('url' in line) tree.add(line.url);
    else tree.addTag(line.tag, 'text', line.tag.kind === 'raw' ? 'text' : 'plain');
  }
  return attachLineBreaks(tree.finish(), 'blank', isRepeated);
}

async function convert(html: string): Promise<string> {
  const { convert: htmlToText } = await import('html-to-text');
  const headings = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'];
  const text = htmlToText(html, {
    wordwrap: false,
    selectors: [
      {
        selector: 'a',
        options: { linkBrackets: ['<', '>'], hideLinkHrefIfSameAsText: true, noAnchorUrl: true },
      },
      { selector: 'img', format: 'altText' },
      { selector: 'tr', format: 'block', options: { leadingLineBreaks: 1, trailingLineBreaks: 1 } },
      ...['td', 'th'].map((selector) => ({ selector, format: 'cell' })),
      ...headings.map((selector) => ({ selector, options: { uppercase: false } })),
      ...HIDDEN.map((selector) => ({ selector, format: 'skip' })),
    ],
    formatters: {
      cell: (element, walk, builder) => {
        walk(element.children, builder);
        builder.addInline(' ');
      },
      altText: (element, _walk, builder) => {
        const alt: unknown = element.attribs?.alt;
        if (typeof alt === 'string') builder.addInline(alt);
      },
    },
  });
  return `${text
    .replace(/(?<![ \t])[ \t]+$/gm, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim()}\n`;
}

/** Replaces each URL that has fields with a single word, which survives the conversion intact. */
function protectUrls(html: string, placeholders: TagPlaceholders, problems: TagProblems) {
  const urls: CompiledUrl[] = [];
  const prefix = `${placeholders.placeholderFor(placeholders.tags.length)}u`;
  let out = '';
  let from = 0;
  for (const range of mapHtml(html).ranges) {
    if (range.kind === 'text') continue;
    if (range.name === 'style' && isHiding(range.value, html.slice(range.end, range.end + 300))) {
      const quote = range.quoted ? '' : '"';
      out += `${html.slice(from, range.start)}${quote}display:none${quote}`;
      from = range.end;
    }
    if (range.name !== 'href' || classifyAttribute(range) !== 'url') continue;
    const found = placeholders.find(range.value);
    // A URL that is just one field reads the same as text, which lets us compare it with the link's text.
    if (found.length === 0 || isOneField(range.value, found)) continue;
    out += `${html.slice(from, range.start)}${prefix}${urls.length}z`;
    urls.push(compileUrl(range.value, 'plain', found, problems));
    from = range.end;
  }
  return {
    html: out + html.slice(from),
    find: (text: string) =>
      Array.from(text.matchAll(new RegExp(`${prefix}(\\d+)z`, 'g'))).flatMap((match) => {
        const url = urls[Number(match[1])];
        const end = match.index + match[0].length;
        return url === undefined ? [] : [{ start: match.index, end, url }];
      }),
  };
}

/**
 * True for the styles that hide a preheader.
 * @param after what follows the attribute: a cell without a font size is a common layout, unless it has text of its own
 */
export function isHiding(style: string, after: string): boolean {
  if (style === '') return false;
  const declarations = new Map(
    style.split(';').map((part) => {
      const colon = part.indexOf(':');
      const value = part.slice(colon + 1).replace(/!important/i, '');
      return [part.slice(0, colon).trim().toLowerCase(), value.trim().toLowerCase()] as const;
    }),
  );
  const is = (name: string, pattern: RegExp) => pattern.test(declarations.get(name) ?? '');
  const none = /^0(?:\.0+)?(?:px|pt|em|%)?$/;
  return (
    is('display', /^none$/) ||
    is('visibility', /^hidden$/) ||
    (is('overflow', /^hidden$/) && (is('max-height', none) || is('height', none))) ||
    (is('font-size', none) && /^[^<>]*>(?:\s|&nbsp;|&zwnj;)*[^\s<&]/.test(after))
  );
}

function isOneField(value: string, found: readonly { start: number; end: number }[]): boolean {
  const [first] = found;
  return found.length === 1 && first?.start === 0 && first.end === value.length;
}

function* splitPlaceholders(
  text: string,
  placeholders: TagPlaceholders,
  urls: ReturnType<typeof protectUrls>,
) {
  const found = [...placeholders.find(text), ...urls.find(text)].sort((a, b) => a.start - b.start);
  let from = 0;
  for (const piece of found) {
    yield text.slice(from, piece.start);
    yield piece;
    from = piece.end;
  }
  yield text.slice(from);
}

/**
 * Drops lines that contain only section tags, as Mustache does, and the following blank line if a blank line
 * precedes.
 */
function dropStandaloneTags(text: string, placeholders: TagPlaceholders): string {
  let out = '';
  /** The kept text without placeholders: what a reader sees before the next line. */
  let keptText = '\n\n';
  for (const line of text.split(/(?<=\n)/)) {
    const bare = standaloneTags(line, placeholders);
    if (bare !== undefined) out += bare;
    else if (line !== '\n' || !keptText.endsWith('\n\n')) {
      out += line;
      keptText = keptText.slice(-1) + line;
    }
  }
  return out;
}

/** The placeholders of a line that consists of section tags only. */
function standaloneTags(line: string, placeholders: TagPlaceholders): string | undefined {
  const found = placeholders.find(line);
  if (found.length === 0 || found.some(({ tag }) => tag.kind === 'field' || tag.kind === 'raw')) {
    return undefined;
  }
  let rest = line;
  for (const { start, end } of found.toReversed()) rest = rest.slice(0, start) + rest.slice(end);
  return rest.trim() === ''
    ? found.map(({ start, end }) => line.slice(start, end)).join('')
    : undefined;
}

/** What a reader has seen just before a position: text on the same line, a line break or a blank line. */
type PrecedingText = 'words' | 'line' | 'blank';

/**
 * A section on separate lines includes the line breaks after it, so hiding it leaves no gap. A section that is one line
 * of a paragraph leaves the blank line after that paragraph alone. A list repeats one line break with each item;
 * what else follows is shown once.
 */
function attachLineBreaks(
  nodes: readonly CompiledNode[],
  initial: PrecedingText,
  isRepeated: (name: string) => boolean,
): CompiledNode[] {
  const result: CompiledNode[] = [];
  const rest = nodes.slice();
  let before = initial;
  for (let node = rest.shift(); node !== undefined; node = rest.shift()) {
    if (node === '') continue;
    if (typeof node === 'string' || node.type !== 'section') {
      before = afterNode(node);
      result.push(node);
      continue;
    }
    const inside = attachLineBreaks(node.nodes, before, isRepeated);
    const [next] = rest;
    const alone = before === 'blank' || (before === 'line' && !endsLine(inside));
    const breaks = alone && typeof next === 'string' ? (/^\n+/.exec(next)?.[0] ?? '') : '';
    if (typeof next === 'string') rest[0] = next.slice(breaks.length);
    const isList = node.shown === 'filled' && isRepeated(node.name);
    const repeated = isList ? (endsLine(inside) ? 0 : 1) : breaks.length;
    const whole = appendText(inside, breaks.slice(0, repeated));
    result.push({ ...node, nodes: whole });
    if (repeated < breaks.length) result.push(shownOnce(node, breaks.slice(repeated)));
    if (!endsLine(whole)) before = 'words';
  }
  return result;
}

/** Shown behind a list, unless it is empty. */
function shownOnce({ name }: CompiledSection, text: string): CompiledNode {
  return { type: 'section', name, shown: 'filled', nodes: [text], once: true };
}

function afterNode(node: CompiledNode): PrecedingText {
  if (typeof node !== 'string' || !node.endsWith('\n')) return 'words';
  return node.endsWith('\n\n') ? 'blank' : 'line';
}

function endsLine(nodes: readonly CompiledNode[]): boolean {
  const last = nodes.at(-1);
  if (typeof last === 'string') return last.endsWith('\n');
  return last?.type === 'section' && endsLine(last.nodes);
}

function appendText(nodes: readonly CompiledNode[], text: string): CompiledNode[] {
  const last = nodes.at(-1);
  if (text === '') return nodes.slice();
  return typeof last === 'string' ? [...nodes.slice(0, -1), last + text] : [...nodes, text];
}
