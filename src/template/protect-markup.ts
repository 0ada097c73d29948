import type { Markup, MarkupTag } from './parse-markup.ts';

/** Source in which each tag is a plain word, which MJML, CSS inlining and text conversion carry along untouched. */
export interface ProtectedSource {
  readonly text: string;
  readonly placeholders: TagPlaceholders;
}

export interface FoundTag {
  readonly start: number;
  readonly end: number;
  readonly tag: MarkupTag;
}

/** Puts a word in place of each tag; comments go, their line breaks stay, so that lines keep their numbers. */
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

/** The words that stand for the tags of one source. Lower-case letters and digits only: legal at every place. */
export class TagPlaceholders {
  readonly tags: readonly MarkupTag[];
  readonly #prefix: string;

  constructor(source: string, tags: readonly MarkupTag[]) {
    this.tags = tags;
    // No entity begins with these letters, so that a word after a bare `&` stays a word.
    let prefix = 'qzf';
    for (let turn = 0; source.toLowerCase().includes(prefix); turn += 1) prefix = `qzf${turn}x`;
    this.#prefix = prefix;
  }

  placeholderFor(index: number): string {
    return `${this.#prefix}n${index}z`;
  }

  /** All words in a text, in order. */
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

  /** The text with one and the same word for each use of the same field. */
  unify(text: string): string {
    const pattern = new RegExp(`${this.#prefix}n(\\d+)z`, 'g');
    return text.replace(pattern, (placeholder, index) => {
      const tag = this.tags[Number(index)];
      if (tag?.kind !== 'field' && tag?.kind !== 'raw') return placeholder;
      return this.placeholderFor(
        this.tags.findIndex(({ kind, name }) => kind === tag.kind && name === tag.name),
      );
    });
  }

  /** The text with the words written as tags again, for messages to people. */
  reveal(text: string): string {
    const pattern = new RegExp(`${this.#prefix}n(\\d+)z`, 'g');
    return text.replace(pattern, (placeholder, index) => {
      const tag = this.tags[Number(index)];
      return tag === undefined ? placeholder : writeTag(tag);
    });
  }
}

/** The tag as people write it. */
export function writeTag(tag: MarkupTag): string {
  if (tag.kind === 'raw') return `{{{${tag.name}}}}`;
  const symbol = { field: '', filled: '#', empty: '^', close: '/', comment: '!' }[tag.kind];
  return `{{${symbol}${tag.name}}}`;
}
