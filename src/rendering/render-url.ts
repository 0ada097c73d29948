import { MAX_RENDERED_BYTES } from '../template/template-limits.ts';
import { BodyTooLarge } from './body-writer.ts';
import { type CheckedValues, percentEncode } from './checked-values.ts';

/** Characters that would close a `url(…)` in a style. */
const CSS_SPECIAL = /["'()\\]/g;

/** Encodes a value for its place in a URL, of which `before` is the part before it. */
function encodePart(before: string, value: string): string {
  // RFC 3966 section 3: a number with its separators, except spaces.
  if (/^\s*tel:[^;]*$/i.test(before))
    return encodeURIComponent(value.replace(/\s/g, '')).replaceAll('%2B', '+');
  const encoded = encodeURIComponent(value);
  // RFC 6068 section 2: the @ of an address stays.
  return /^\s*mailto:[^?]*$/i.test(before) ? encoded.replaceAll('%40', '@') : encoded;
}

/** Assembles one URL from its parts; a value at the start must be a whole URL. */
export class UrlBuilder {
  url = '';
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
    const encoded = this.#begun ? encodePart(this.url, value) : this.#wholeUrl(value);
    this.#append(this.#css ? encoded.replace(CSS_SPECIAL, percentEncode) : encoded);
  }

  #append(text: string): void {
    this.url += text;
    this.#begun ||= text.trim() !== '';
    if (this.url.length > MAX_RENDERED_BYTES) throw new BodyTooLarge();
  }

  #wholeUrl(value: string): string {
    const url = this.#checked.wholeUrl(value);
    if (url === undefined) this.refused = true;
    return url ?? '';
  }
}
