import Mustache from 'mustache';
import { currentFormat, type MarkupFormat } from './compiled-template.ts';
import { type FieldFormat, parseHelper } from './field-format.ts';
import { MAX_FIELDS } from './template-limits.ts';
import { MarkupError, validateTags } from './validate-tags.ts';

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

export type ParsedMarkup =
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

  #field([symbol, name, start, end]: Token): MarkupField {
    const raw = symbol === '&';
    const call = this.#format === 1 ? undefined : parseHelper(name);
    if (call !== undefined && 'format' in call) return this.#helper(call, raw, name, start, end);
    this.names.push(name);
    this.tags.push({ kind: raw ? 'raw' : 'field', name, start, end });
    return { type: 'field', name, raw };
  }

  #helper(
    { name, format }: { readonly name: string; readonly format: FieldFormat },
    raw: boolean,
    written: string,
    start: number,
    end: number,
  ): MarkupField {
    this.names.push(name);
    this.tags.push({ kind: raw ? 'raw' : 'field', name, start, end, format, written });
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
