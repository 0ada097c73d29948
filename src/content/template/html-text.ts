import type { Token } from 'parse5';
import { isHiding } from './derive-text.ts';
import { BoundedTokenizer, contentState } from './map-html.ts';

const unread = new Set(['title', 'style', 'script', 'iframe', 'noembed', 'noframes']);
const lines = new Set('br div tr li dt dd hr address section article header footer'.split(' '));
const blocks = new Set('p h1 h2 h3 h4 h5 h6 ul ol dl table blockquote pre figure'.split(' '));
const cells = new Set(['td', 'th']);
const empty = new Set('area base br col embed hr img input link meta source track wbr'.split(' '));

/**
 * The text of HTML that is a field's value or a rendered part: in lines, with the URL of each link after its text and the
 * alternative text of images. One pass, so its length alone decides the time.
 */
export function htmlText(html: string): string {
  const reader = new TextReader();
  const add = ({ chars }: Token.CharacterToken): void => reader.add(chars);
  const tokenizer: BoundedTokenizer = new BoundedTokenizer(
    {},
    {
      onCharacter: add,
      onWhitespaceCharacter: add,
      onNullCharacter: () => {},
      onStartTag: (token) => {
        reader.open(token);
        const state = contentState(token.tagName);
        if (state !== undefined) tokenizer.state = state;
      },
      onEndTag: ({ tagName }) => reader.close(tagName),
      onComment: () => {},
      onDoctype: () => {},
      onEof: () => {},
    },
  );
  tokenizer.write(html, true);
  return reader.text
    .replace(/ ?\n ?/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

class TextReader {
  /** Never looked into while it grows: each look would copy all of it. */
  text = '';
  #last = '';
  /** The element that is skipped, and how many of its name are open. */
  #skipped: { readonly name: string; depth: number } | undefined;
  #link: { readonly url: string; shown: string } | undefined;

  add(characters: string): void {
    if (this.#skipped !== undefined) return;
    const words = characters.replace(/[ \t\r\n\f]+/g, ' ');
    const follows = this.#last === ' ' || this.#last === '\n';
    this.#write(words.startsWith(' ') && follows ? words.slice(1) : words);
  }

  #write(text: string): void {
    this.text += text;
    if (this.#link !== undefined) this.#link.shown += text;
    this.#last = text.at(-1) ?? this.#last;
  }

  open({ tagName, attrs, selfClosing }: Token.TagToken): void {
    if (this.#skipped !== undefined) {
      if (this.#skipped.name === tagName) this.#skipped.depth += 1;
      return;
    }
    const attribute = (name: string) => attrs.find((one) => one.name === name)?.value;
    const hides =
      attribute('hidden') !== undefined ||
      attribute('aria-hidden') === 'true' ||
      isHiding(attribute('style') ?? '', '');
    if (unread.has(tagName) || (hides && !empty.has(tagName) && !selfClosing)) {
      this.#skipped = { name: tagName, depth: 1 };
      return;
    }
    this.#break(tagName);
    if (tagName === 'img' && !hides) this.add(attribute('alt') ?? '');
    const url = tagName === 'a' ? attribute('href')?.trim() : undefined;
    if (url !== undefined && url !== '' && !url.startsWith('#')) this.#link = { url, shown: '' };
  }

  close(tagName: string): void {
    if (this.#skipped !== undefined) {
      if (this.#skipped.name !== tagName) return;
      this.#skipped.depth -= 1;
      if (this.#skipped.depth === 0) this.#skipped = undefined;
      return;
    }
    if (tagName === 'a' && this.#link !== undefined) {
      const { url } = this.#link;
      const shown = this.#link.shown.trim();
      this.#link = undefined;
      if (shown === '') this.#write(`<${url}>`);
      else if (shown !== url) this.#write(` <${url}>`);
    }
    if (tagName !== 'br') this.#break(tagName);
  }

  #break(tagName: string): void {
    if (blocks.has(tagName)) this.#write('\n\n');
    // Each br is a line break of its own; the ends of lines coincide.
    else if (tagName === 'br' || (lines.has(tagName) && this.#last !== '\n')) this.#write('\n');
    else if (cells.has(tagName)) this.add(' ');
  }
}
