import { MAX_RENDERED_BYTES } from '../template/template-limits.ts';
import { BodyTooLarge } from './body-writer.ts';
import { type CheckedValues, percentEncode } from './checked-values.ts';

/** Characters that would close a `url(…)` in a style. */
const CSS_SPECIAL = /["'()\\]/g;

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
    const encoded = this.#begun ? encodeURIComponent(value) : this.#wholeUrl(value);
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
