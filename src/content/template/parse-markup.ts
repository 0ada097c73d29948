import Mustache from 'mustache';
import { isLonger } from '../../base/values/is-longer.ts';
import { currentFormat, type MarkupFormat } from './compiled-template.ts';
import { type FieldFormat, type HelperCall, parseHelper } from './field-format.ts';
import {
  MAX_COMMENT_LENGTH,
  MAX_FIELD_NAME_LENGTH,
  MAX_FIELDS,
  MAX_NESTING,
  MAX_TAG_LENGTH,
  MAX_TAGS,
} from './template-limits.ts';
import { type SourcePosition, sourcePositionOf } from './template-problem.ts';

/** Invalid markup: the rule, a message and the position in the source. */
class MarkupError extends Error {
  override name = 'MarkupError';
  readonly rule: string;
  readonly position: SourcePosition | undefined;

  constructor(rule: string, message: string, position?: SourcePosition) {
    super(message);
    this.rule = rule;
    this.position = position;
  }
}

interface ScannedTag {
  readonly symbol: string;
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

type Fail = (rule: string, message: string) => never;

/**
 * Checks each tag of a source before Mustache's parser runs. Rejects Mustache features that we don't support, with
 * their position, and input on which the parser would need more than linear time (long runs inside a tag, unclosed
 * tags, huge numbers of tags).
 */
function validateTags(source: string, format: MarkupFormat): void {
  const open: ScannedTag[] = [];
  let count = 0;
  for (let start = source.indexOf('{{'); start !== -1; ) {
    count += 1;
    if (count > MAX_TAGS) throw new MarkupError('too-many-tags', `has more than ${MAX_TAGS} tags`);
    const tag = validateTag(source, start, format);
    validateNesting(source, tag, open);
    start = source.indexOf('{{', tag.end);
  }
  const last = open.at(-1);
  if (last !== undefined) throw unclosed(source, last);
}

function validateTag(source: string, start: number, format: MarkupFormat): ScannedTag {
  const fail: Fail = (rule, message) => {
    throw new MarkupError(rule, message, sourcePositionOf(source, start));
  };
  const inside = skipSpace(source, start + 2);
  const symbol = /[#^/&{!=>]/.exec(source.charAt(inside))?.[0] ?? '';
  if (symbol === '=') fail('delimiter-change', 'delimiter changes are not supported');
  if (symbol === '>') fail('partial', 'partials ({{> …}}) are not supported');
  const limit = symbol === '!' ? MAX_COMMENT_LENGTH : MAX_TAG_LENGTH;
  const closing = symbol === '{' ? '}}}' : '}}';
  const close = source.slice(inside, inside + limit + closing.length).indexOf(closing);
  if (close === -1) {
    if (source.includes(closing, inside))
      fail('tag-too-long', `a tag is longer than ${limit} characters`);
    fail('unclosed-tag', `a tag is not closed by ${closing}`);
  }
  const name = source.slice(inside + symbol.length, inside + close).trim();
  if (symbol !== '!') {
    const call = format === 1 || symbol === '/' ? undefined : parseHelper(name);
    validateTagName(name, call, fail);
    if (call !== undefined && /[#^]/.test(symbol))
      fail('bad-helper', `{{${symbol}${name}}} can’t be a section: a helper shows a value`);
  }
  return { symbol, name, start, end: inside + close + closing.length };
}

function validateTagName(name: string, call: HelperCall | undefined, fail: Fail): void {
  if (name === '') fail('empty-name', 'a tag has no field name');
  if (name === '.') fail('dot', '{{.}} is not supported; name a field');
  if (/[{}<>\p{Cc}\p{Cs}]/u.test(name)) {
    fail(
      'bad-name',
      'a field name can’t contain braces, angle brackets, line breaks or control characters',
    );
  }
  if (call !== undefined && 'problem' in call) fail('bad-helper', `{{${name}}} ${call.problem}`);
  if (isLonger(call?.name ?? name, MAX_FIELD_NAME_LENGTH)) {
    fail('name-too-long', `a field name is longer than ${MAX_FIELD_NAME_LENGTH} characters`);
  }
}

function validateNesting(source: string, tag: ScannedTag, open: ScannedTag[]): void {
  if (tag.symbol === '#' || tag.symbol === '^') {
    open.push(tag);
    if (open.length > MAX_NESTING) {
      const message = `sections are nested more than ${MAX_NESTING} deep`;
      throw new MarkupError('nested-too-deeply', message, sourcePositionOf(source, tag.start));
    }
  } else if (tag.symbol === '/') {
    const section = open.pop();
    if (section === undefined) {
      const message = `{{/${tag.name}}} closes a section that was not opened`;
      throw new MarkupError('unopened-section', message, sourcePositionOf(source, tag.start));
    }
    if (section.name !== tag.name) throw unclosed(source, section, tag);
  }
}

function unclosed(source: string, section: ScannedTag, instead?: ScannedTag): MarkupError {
  const found = instead === undefined ? 'by the end' : `before {{/${instead.name}}}`;
  const message = `the section {{${section.symbol}${section.name}}} is not closed ${found}`;
  return new MarkupError('unclosed-section', message, sourcePositionOf(source, section.start));
}

/** Stops at the maximum tag length, so that many openings before one long run stay cheap. */
function skipSpace(source: string, from: number): number {
  let at = from;
  while (at < from + MAX_TAG_LENGTH && /\s/.test(source.charAt(at))) at += 1;
  return at;
}

/** A field to be replaced by its value. `raw` is `{{{Name}}}` or `{{&Name}}`. */
interface MarkupField {
  readonly type: 'field';
  readonly name: string;
  readonly raw: boolean;
  /** The helper that formats the value. */
  readonly format?: FieldFormat;
}

/** `{{#Name}}…{{/Name}}` (shown if the value is filled) or `{{^Name}}…{{/Name}}` (shown if it is empty). */
interface MarkupSection {
  readonly type: 'section';
  readonly name: string;
  readonly shown: 'filled' | 'empty';
  readonly nodes: readonly MarkupNode[];
}

export type MarkupNode = string | MarkupField | MarkupSection;

/** A tag and its position, for rewriting the source without touching anything else. */
export interface MarkupTag {
  readonly kind: 'field' | 'raw' | 'filled' | 'empty' | 'close' | 'comment';
  readonly name: string;
  /** Offsets in the source, end exclusive. */
  readonly start: number;
  readonly end: number;
  /** Of a field with a helper. */
  readonly format?: FieldFormat;
  /** The text between the braces; absent if it is the name. */
  readonly written?: string;
}

export interface Markup {
  readonly nodes: readonly MarkupNode[];
  /** Every tag in source order, comments and closing tags included. */
  readonly tags: readonly MarkupTag[];
  /** Names of all fields and sections, in order of first use. */
  readonly fields: readonly string[];
}

type ParsedMarkup =
  | { readonly ok: true; readonly markup: Markup }
  | { readonly ok: false; readonly error: MarkupError };

/** Mustache's token: symbol, value, start, end; for a section also its children and the start of its closing tag. */
type Token = [string, string, number, number, unknown?, unknown?];

/**
 * Parses personalization markup: Mustache without partials and delimiter changes, with flat names that may contain
 * spaces, and helpers. Never throws for invalid source; the error names the rule, line and column.
 */
export function parseMarkup(source: string, format = currentFormat): ParsedMarkup {
  if (!source.includes('{{')) {
    const nodes = source === '' ? [] : [source];
    return { ok: true, markup: { nodes, tags: [], fields: [] } };
  }
  try {
    validateTags(source, format);
    const reader = new TokenReader(source, format);
    const nodes = reader.read(parseTokens(source));
    const fields = Array.from(new Set(reader.names));
    if (fields.length > MAX_FIELDS) {
      throw new MarkupError('too-many-fields', `has more than ${MAX_FIELDS} fields`);
    }
    return { ok: true, markup: { nodes, tags: reader.tags, fields } };
  } catch (error) {
    if (error instanceof MarkupError) return { ok: false, error };
    throw error;
  }
}

/** Mustache's parser, without its cache, which would keep every source forever. */
function parseTokens(source: string): Token[] {
  const writer = Object.assign(new Mustache.Writer(), { templateCache: undefined });
  return writer.parse(source, ['{{', '}}']) as Token[];
}

class TokenReader {
  readonly names: string[] = [];
  readonly tags: MarkupTag[] = [];
  readonly #source: string;
  readonly #format: MarkupFormat;

  constructor(source: string, format: MarkupFormat) {
    this.#source = source;
    this.#format = format;
  }

  read(tokens: readonly Token[]): MarkupNode[] {
    const nodes: MarkupNode[] = [];
    for (const token of tokens) {
      const [symbol, value, start, end] = token;
      if (symbol === 'text') nodes.push(value);
      else if (symbol === '!') this.tags.push({ kind: 'comment', name: '', start, end });
      else if (symbol === '#' || symbol === '^') nodes.push(this.#section(token));
      else nodes.push(this.#field(token));
    }
    return nodes;
  }

  #field([symbol, written, start, end]: Token): MarkupField {
    const raw = symbol === '&';
    const kind = raw ? 'raw' : 'field';
    const call = this.#format === 1 ? undefined : parseHelper(written);
    if (call === undefined || 'problem' in call) {
      this.names.push(written);
      this.tags.push({ kind, name: written, start, end });
      return { type: 'field', name: written, raw };
    }
    const { name, format } = call;
    this.names.push(name);
    this.tags.push({ kind, name, start, end, format, written });
    return { type: 'field', name, raw, format };
  }

  #section([symbol, name, start, end, children, closeStart]: Token): MarkupSection {
    const shown = symbol === '#' ? 'filled' : 'empty';
    this.names.push(name);
    this.tags.push({ kind: shown, name, start, end });
    const nodes = this.read(children as Token[]);
    const close = closeStart as number;
    const closeEnd = this.#source.indexOf('}}', close) + 2;
    this.tags.push({ kind: 'close', name, start: close, end: closeEnd });
    return { type: 'section', name, shown, nodes };
  }
}
