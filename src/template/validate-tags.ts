import { isLonger } from '../foundation/is-longer.ts';
import type { MarkupFormat } from './compiled-template.ts';
import { type HelperCall, parseHelper } from './field-format.ts';
import {
  MAX_COMMENT_LENGTH,
  MAX_FIELD_NAME_LENGTH,
  MAX_NESTING,
  MAX_TAG_LENGTH,
  MAX_TAGS,
} from './template-limits.ts';
import { sourcePositionOf } from './template-problem.ts';

/** Invalid markup: the rule, a message and the position in the source. */
export class MarkupError extends Error {
  override name = 'MarkupError';
  readonly rule: string;
  readonly line: number | undefined;
  readonly column: number | undefined;

  constructor(rule: string, message: string, source?: string, offset?: number) {
    super(message);
    this.rule = rule;
    const position =
      source === undefined || offset === undefined ? undefined : sourcePositionOf(source, offset);
    this.line = position?.line;
    this.column = position?.column;
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
export function validateTags(source: string, format: MarkupFormat): void {
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
    throw new MarkupError(rule, message, source, start);
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
      throw new MarkupError('nested-too-deeply', message, source, tag.start);
    }
  } else if (tag.symbol === '/') {
    const section = open.pop();
    if (section === undefined) {
      const message = `{{/${tag.name}}} closes a section that was not opened`;
      throw new MarkupError('unopened-section', message, source, tag.start);
    }
    if (section.name !== tag.name) throw unclosed(source, section, tag);
  }
}

function unclosed(source: string, section: ScannedTag, instead?: ScannedTag): MarkupError {
  const found = instead === undefined ? 'by the end' : `before {{/${instead.name}}}`;
  const message = `the section {{${section.symbol}${section.name}}} is not closed ${found}`;
  return new MarkupError('unclosed-section', message, source, section.start);
}

/** Stops at the maximum tag length, so that many openings before one long run stay cheap. */
function skipSpace(source: string, from: number): number {
  let at = from;
  while (at < from + MAX_TAG_LENGTH && /\s/.test(source.charAt(at))) at += 1;
  return at;
}
