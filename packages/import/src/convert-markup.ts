/** What a tag of another product's template language can't become here. */
interface MarkupProblem {
  /** From 1. */
  readonly line: number;
  readonly tag: string;
  readonly reason: string;
}

/** How a field of the template is used. */
export type ConvertedField =
  /** Without a default, a send must give it. */
  | { readonly kind: 'text'; readonly default: string | undefined }
  | { readonly kind: 'list' | 'object'; readonly fields: Map<string, ConvertedField> };

export interface ConvertedMarkup {
  readonly text: string;
  readonly fields: Map<string, ConvertedField>;
  readonly problems: readonly MarkupProblem[];
}

/** Handlebars of SendGrid and Mailgun, Mustachio of Postmark, or Resend's variables. */
export type MarkupLanguage = 'handlebars' | 'mustachio' | 'variables';

interface OpenBlock {
  /** The word that closes it. */
  readonly closer: string;
  readonly name: string;
  readonly opening: '#' | '^';
  readonly isElse: boolean;
  /** A block that isn't converted stays as it is, and so does its end. */
  readonly converted: boolean;
  readonly outer: Map<string, ConvertedField>;
}

const tagPattern = /\{\{\{[^{}]*\}\}\}|\{\{[^{}]*\}\}/g;
const plainName = /^[\p{L}_][\p{L}\p{N}_.-]*$/u;

/**
 * Converts the tags of a template. Everything between tags stays as it is. A tag that has no counterpart stays, too, so that
 * the template can't be published before a person has reviewed it.
 */
export function convertMarkup(source: string, language: MarkupLanguage): ConvertedMarkup {
  const fields = new Map<string, ConvertedField>();
  const problems: MarkupProblem[] = [];
  const open: OpenBlock[] = [];
  const dotted = new Set<string>();
  let scope = fields;
  const problem = (offset: number, tag: string, reason: string): string => {
    problems.push({ line: source.slice(0, offset).split('\n').length, tag, reason });
    return tag;
  };

  const text = source.replace(tagPattern, (tag: string, offset: number) => {
    const raw = tag.startsWith('{{{');
    const inner = tag.replaceAll(/^\{+~?|~?\}+$/g, '').trim();
    if (language === 'variables') {
      // Two braces are text in Resend.
      if (!raw) return problem(offset, tag, 'is text in Resend, and a field here');
      return value(inner, tag, offset, true);
    }
    if (inner.startsWith('!')) return `{{! ${inner.replace(/^!-*|-*$/g, '').trim()} }}`;
    if (/^else\b|^\^$/.test(inner)) return otherwise(inner, tag, offset);
    if (inner.startsWith('#') || inner.startsWith('^')) return begin(inner, tag, offset);
    if (inner.startsWith('/')) return end(inner, tag, offset);
    return value(inner.replace(/^&\s*/, ''), tag, offset, raw || inner.startsWith('&'));
  });
  for (const { closer } of open)
    problem(source.length, `{{#${closer}}}`, 'is a block without an end');
  return { text, fields, problems };

  function value(expression: string, tag: string, offset: number, raw: boolean): string {
    const inserted = /^insert\s+"?([\w.-]+)"?(?:\s+"default=([^"]*)")?$/.exec(expression);
    const name = nameOf(inserted?.[1] ?? expression);
    if (name === undefined) return problem(offset, tag, reasonFor(expression));
    const inserts = add(name, { kind: 'text', default: inserted?.[2] });
    if (inserts.kind !== 'text')
      return problem(offset, tag, `is a text here, and a ${inserts.kind} elsewhere`);
    if (name.includes('.') && !dotted.has(name)) {
      dotted.add(name);
      problem(offset, tag, `is one field: send it under the key ${name}`);
    }
    return raw ? `{{{${name}}}}` : `{{${name}}}`;
  }

  function begin(inner: string, tag: string, offset: number): string {
    const [word = '', ...rest] = inner.slice(1).trim().split(/\s+/);
    const isInverted = inner.startsWith('^');
    const isCondition = word === 'if' || word === 'unless';
    const isEach = word === 'each';
    const isBlock = isCondition || isEach || word === 'with';
    const name =
      rest.length === (isBlock ? 1 : 0) ? nameOf(isBlock ? (rest[0] ?? '') : word) : undefined;
    const closer = isBlock || rest.length > 0 ? word : inner.slice(1).trim();
    const block = { closer, name: name ?? '', isElse: false, outer: scope };
    const opening = isInverted || word === 'unless' ? '^' : '#';
    const keep = (reason: string): string => {
      open.push({ ...block, opening, converted: false });
      return problem(offset, tag, reason);
    };
    if (name === undefined) return keep('is a block that isn’t known here');
    const isScope =
      isEach || word === 'with' || (!isBlock && !isInverted && language === 'mustachio');
    const kind = isEach ? 'list' : 'object';
    const inside = add(name, isScope ? { kind, fields: new Map() } : { kind: 'text', default: '' });
    if (!isScope && inside.kind !== 'text' && opening === '#')
      return keep('is repeated for each item here; move it into the list');
    if (isScope && inside.kind !== kind)
      return keep(`is a ${kind} here, and a ${inside.kind} elsewhere`);
    open.push({ ...block, opening, converted: true });
    if (isScope && inside.kind !== 'text') scope = inside.fields;
    return `{{${opening}${name}}}`;
  }

  function otherwise(inner: string, tag: string, offset: number): string {
    const block = open.at(-1);
    if (block === undefined || !block.converted || block.isElse || inner.includes(' '))
      return problem(offset, tag, 'has no counterpart; write the branch as a block of its own');
    open[open.length - 1] = { ...block, isElse: true };
    scope = block.outer;
    return `{{/${block.name}}}{{${block.opening === '#' ? '^' : '#'}${block.name}}}`;
  }

  function end(inner: string, tag: string, offset: number): string {
    const block = open.pop();
    const word = inner.slice(1).trim();
    if (block === undefined) return problem(offset, tag, 'ends a block that wasn’t begun');
    scope = block.outer;
    if (word !== '' && word !== block.closer)
      return problem(offset, tag, `ends another block than {{#${block.closer}}}`);
    return block.converted ? `{{/${block.name}}}` : tag;
  }

  /** The name of a field in the current scope; undefined if the expression is none. */
  function nameOf(expression: string): string | undefined {
    if (expression.startsWith('../')) {
      const name = expression.replace(/^(?:\.\.\/)+/, '');
      // An item's own field would come before that of its surroundings.
      return plainName.test(name) && !scope.has(name) ? name : undefined;
    }
    const name = expression.replace(/^this\./, '');
    return plainName.test(name) && name !== 'this' ? name : undefined;
  }

  function add(name: string, field: ConvertedField): ConvertedField {
    const known = scope.get(name);
    if (known === undefined || (known.kind === 'text' && !known.default && isOptional(field))) {
      scope.set(name, field);
      return field;
    }
    return known;
  }
}

function isOptional(field: ConvertedField): boolean {
  return field.kind === 'text' && field.default !== undefined;
}

function reasonFor(expression: string): string {
  if (expression === '.' || expression === 'this')
    return 'is an item without fields; make it an object';
  if (expression.startsWith('>')) return 'is a part of another template; write its content here';
  if (expression.startsWith('@')) return 'is a value of the loop, which has none here';
  if (/\s/.test(expression)) return 'is a helper that isn’t known here';
  return 'is not the name of a field';
}
