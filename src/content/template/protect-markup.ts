import type { Markup, MarkupTag } from './parse-markup.ts';

/** Source in which a plain word replaces each tag, so that MJML, CSS inlining and text conversion leave it alone. */
export interface ProtectedSource {
  readonly text: string;
  readonly placeholders: TagPlaceholders;
}

export interface FoundTag {
  readonly start: number;
  readonly end: number;
  readonly tag: MarkupTag;
}

/**
 * Replaces each tag with a placeholder. Comments are removed, but their line breaks stay so that line numbers stay
 * valid.
 */
export function protectMarkup(source: string, markup: Markup): ProtectedSource {
  const placeholders = new TagPlaceholders(source, markup.tags);
  let text = '';
  let from = 0;
  markup.tags.forEach((tag, index) => {
    text += source.slice(from, tag.start);
    text +=
      tag.kind === 'comment'
        ? source.slice(tag.start, tag.end).replace(/[^\n]/g, '')
        : placeholders.placeholderFor(index);
    from = tag.end;
  });
  return { text: text + source.slice(from), placeholders };
}

/** The placeholders of one source. They consist of lowercase letters and digits, which are legal everywhere. */
export class TagPlaceholders {
  readonly tags: readonly MarkupTag[];
  readonly #prefix: string;

  constructor(source: string, tags: readonly MarkupTag[]) {
    this.tags = tags;
    // No HTML entity begins with these letters, so a placeholder after a bare `&` stays a placeholder.
    let prefix = 'qzf';
    for (let turn = 0; source.toLowerCase().includes(prefix); turn += 1) prefix = `qzf${turn}x`;
    this.#prefix = prefix;
  }

  placeholderFor(index: number): string {
    return `${this.#prefix}n${index}z`;
  }

  /** Finds all placeholders in a text, in order. */
  find(text: string): FoundTag[] {
    const found: FoundTag[] = [];
    const pattern = new RegExp(`${this.#prefix}n(\\d+)z`, 'g');
    for (const match of text.matchAll(pattern)) {
      const tag = this.tags[Number(match[1])];
      if (tag !== undefined) {
        found.push({ start: match.index, end: match.index + match[0].length, tag });
      }
    }
    return found;
  }

  /** Replaces the placeholders so that every use of a field has the same one. */
  unify(text: string): string {
    const pattern = new RegExp(`${this.#prefix}n(\\d+)z`, 'g');
    return text.replace(pattern, (placeholder, index) => {
      const tag = this.tags[Number(index)];
      if (tag?.kind !== 'field' && tag?.kind !== 'raw') return placeholder;
      return this.placeholderFor(
        this.tags.findIndex((other) => other.kind === tag.kind && textOf(other) === textOf(tag)),
      );
    });
  }

  /** Turns the placeholders back into tags, for messages to people. */
  reveal(text: string): string {
    const pattern = new RegExp(`${this.#prefix}n(\\d+)z`, 'g');
    return text.replace(pattern, (placeholder, index) => {
      const tag = this.tags[Number(index)];
      return tag === undefined ? placeholder : writeTag(tag);
    });
  }
}

/** The tag as it is written in a source. */
export function writeTag(tag: MarkupTag): string {
  if (tag.kind === 'raw') return `{{{${textOf(tag)}}}}`;
  const symbol = { field: '', filled: '#', empty: '^', close: '/', comment: '!' }[tag.kind];
  return `{{${symbol}${textOf(tag)}}}`;
}

function textOf({ written, name }: MarkupTag): string {
  return written ?? name;
}
