import { MAX_RENDERED_BYTES } from '../template/template-limits.ts';
import { BodyTooLarge } from './body-writer.ts';
import { type CheckedValues, percentEncode } from './checked-values.ts';

/** Characters that would close a `url(…)` in a style. */
const CSS_SPECIAL = /["'()\\]/g;

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
    this.#append(this.#css ? encoded.replace(CSS_SPECIAL, percentEncode) : encoded);
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
