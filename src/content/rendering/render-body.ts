import type { CompiledLink } from '../template/compiled-template.ts';
import { escapeHtml } from '../template/escape-html.ts';
import { formatValue } from '../template/field-format.ts';
import { MAX_RENDERED_BYTES } from '../template/template-limits.ts';
import type { ValueScope } from '../template/value-scope.ts';
import { BodyTooLarge, BodyWriter } from './body-writer.ts';
import { CheckedValues } from './checked-values.ts';
import type { BodyPiece, EachNode, LoadedNode } from './load-template.ts';

/** Characters that would close a `url(…)` in a style. */
const CSS_SPECIAL = /["'()\\]/g;

function percentEncodeAscii(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

const longestScheme = 'mailto:';

/** Assembles one URL from its parts; a value at the start must be a whole URL. */
export class UrlBuilder {
  /** Never looked into while it grows: each look would copy all of it. */
  url = '';
  /** The first characters in lowercase, which say whether the scheme is `tel` or `mailto`. */
  #scheme = '';
  /** What ends a number, and addresses. */
  #hasSemicolon = false;
  #hasQuestionMark = false;
  /** The value at the start is not a valid URL, so the link must be emptied. */
  refused = false;
  /** True once the URL contains anything other than white space. */
  #begun = false;
  readonly #css: boolean;
  readonly #checked: CheckedValues;

  constructor(css: boolean, checked: CheckedValues) {
    this.#css = css;
    this.#checked = checked;
  }

  addStatic(text: string): void {
    this.#append(text);
  }

  /** @throws BodyTooLarge if the URL alone exceeds the maximum size of a body */
  addValue(value: string): void {
    if (this.refused) return;
    const encoded = this.#begun ? this.#encodePart(value) : this.#wholeUrl(value);
    this.#append(this.#css ? encoded.replace(CSS_SPECIAL, percentEncodeAscii) : encoded);
  }

  #append(text: string): void {
    this.url += text;
    this.#begun ||= text.trim() !== '';
    if (this.#scheme.length < longestScheme.length)
      this.#scheme = (this.#scheme + text).trimStart().slice(0, longestScheme.length).toLowerCase();
    this.#hasSemicolon ||= text.includes(';');
    this.#hasQuestionMark ||= text.includes('?');
    if (this.url.length > MAX_RENDERED_BYTES) throw new BodyTooLarge();
  }

  #encodePart(value: string): string {
    if (this.#scheme.startsWith('tel:') && !this.#hasSemicolon)
      return this.#checked.numberOf(value);
    const encoded = encodeURIComponent(value);
    // RFC 6068 section 2: the @ of an address stays.
    return this.#scheme === 'mailto:' && !this.#hasQuestionMark
      ? encoded.replaceAll('%40', '@')
      : encoded;
  }

  #wholeUrl(value: string): string {
    const url = this.#checked.wholeUrl(value);
    if (url === undefined) this.refused = true;
    return url ?? '';
  }
}

/** Something the sender should know about a message that is sent anyway. */
export interface RenderWarning {
  readonly code: 'link-emptied' | 'style-emptied' | 'subject-cut';
  /** The field whose value caused it. */
  readonly field?: string;
  readonly message: string;
}

/**
 * Replaces a link's URL with a tracking URL; the link's `index` identifies it.
 * @param item of a link inside a list or object: what the names in it mean there
 */
export type RewriteLink = (link: CompiledLink, url: string, item?: ValueScope) => string;

export interface BodyContext {
  readonly names: readonly string[];
  readonly values: readonly string[];
  readonly scope: ValueScope;
  /** The lists and objects around the nodes, as warnings name them: `Items.` */
  readonly prefix: string;
  readonly locale: string;
  readonly checked: CheckedValues;
  /** Hidden preview text, encoded for HTML. */
  readonly preview: readonly BodyPiece[];
  readonly bodyEnd: string;
  readonly rewriteLink: RewriteLink | undefined;
  readonly warn: (warning: RenderWarning) => void;
}

export type UrlNode = Extract<LoadedNode, { type: 'url' }>;

/**
 * Renders one body: static pieces unchanged, values escaped for their context.
 * @throws BodyTooLarge as soon as it exceeds the maximum size
 */
export function renderBody(
  nodes: readonly LoadedNode[],
  context: BodyContext,
  maxBytes?: number,
): readonly BodyPiece[] {
  const writer = new BodyWriter(maxBytes);
  addNodes(writer, nodes, context);
  return writer.pieces;
}

function addNodes(writer: BodyWriter, nodes: readonly LoadedNode[], context: BodyContext): void {
  for (const node of nodes) {
    if (node.type === 'static') writer.addStatic(node);
    else if (node.type === 'field') {
      // A style may omit a value, and text omits tags; elsewhere escaping never shortens it.
      if (node.as !== 'css' && node.as !== 'text')
        writer.requireCapacityFor(context.values[node.field] ?? '');
      writer.addText(renderField(node, context));
    } else if (node.type === 'section') {
      if ((context.values[node.field] !== '') === node.filled)
        addNodes(writer, node.nodes, context);
    } else if (node.type === 'each') addItems(writer, node, context);
    else if (node.type === 'url') writer.addText(renderUrl(node, context));
    else if (node.slot === 'preview') addPieces(writer, context.preview);
    else writer.addText(context.bodyEnd);
  }
}

function addItems(writer: BodyWriter, node: EachNode, context: BodyContext): void {
  const { name, names, nodes } = node;
  const prefix = `${context.prefix}${name}.`;
  for (const record of context.scope.records(name)) {
    const scope = context.scope.enter(name, record);
    const values = names.map((one) => scope.text(one));
    addNodes(writer, nodes, { ...context, names, values, scope, prefix });
  }
}

function addPieces(writer: BodyWriter, pieces: readonly BodyPiece[]): void {
  for (const piece of pieces) {
    if (typeof piece === 'string') writer.addText(piece);
    else writer.addStatic(piece);
  }
}

function renderField(
  { field, as, format }: Extract<LoadedNode, { type: 'field' }>,
  context: BodyContext,
): string {
  const given = context.values[field] ?? '';
  const value = format === undefined ? given : formatValue(format, given, context.locale);
  if (as === 'html') return escapeHtml(value);
  if (as === 'text') return context.checked.textOf(value);
  if (as !== 'css' || context.checked.fitsStyle(value)) return value;
  const name = `${context.prefix}${context.names[field] ?? ''}`;
  context.warn({
    code: 'style-emptied',
    field: name,
    message: `The value of ${name} isn’t allowed in a style and was omitted.`,
  });
  return '';
}

function renderUrl(node: UrlNode, context: BodyContext): string {
  const { builder, refused } = buildUrl(node, context.values, context.checked);
  if (builder.refused) {
    if (node.as === 'attribute')
      context.warn(linkEmptied(`${context.prefix}${context.names[refused ?? -1] ?? ''}`));
    return '';
  }
  return finishUrl(builder.url, node, context);
}

/** Builds the unescaped URL; `refused` is the field whose value can't start a URL. */
export function buildUrl(
  node: UrlNode,
  values: readonly string[],
  checked = new CheckedValues(),
): { readonly builder: UrlBuilder; readonly refused: number | undefined } {
  const builder = new UrlBuilder(node.as === 'css', checked);
  let refused: number | undefined;
  const add = (nodes: readonly LoadedNode[]): void => {
    for (const part of nodes) {
      if (part.type === 'static') builder.addStatic(part.text);
      else if (part.type === 'field') {
        const refusedBefore = builder.refused;
        builder.addValue(values[part.field] ?? '');
        if (builder.refused && !refusedBefore) refused = part.field;
      } else if (part.type === 'section') {
        if ((values[part.field] !== '') === part.filled) add(part.nodes);
      }
    }
  };
  add(node.nodes);
  return { builder, refused };
}

function finishUrl(url: string, { as, link }: UrlNode, context: BodyContext): string {
  const { rewriteLink, prefix, scope } = context;
  if (as === 'plain') return url;
  if (rewriteLink !== undefined && link?.trackable === true && /^\s*https?:/i.test(url)) {
    return escapeHtml(rewriteLink(link, url, prefix === '' ? undefined : scope));
  }
  return escapeHtml(url);
}

function linkEmptied(field: string): RenderWarning {
  const message = `The value of ${field} isn’t an http, https or mailto URL; the link was left empty.`;
  return { code: 'link-emptied', field, message };
}
