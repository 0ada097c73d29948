import { MAX_RENDERED_BYTES } from '../template/template-limits.ts';
import { BodyTooLarge } from './body-writer.ts';
import { type CheckedValues, percentEncode } from './checked-values.ts';

/** What would end a `url(…)` in a style. */
const CSS_SPECIAL = /["'()\\]/g;

/** Assembles one URL from its parts; a value that stands first has to be a whole URL. */
export class UrlBuilder {
  url = '';
  /** The value that began the URL cannot be used as one; the link has to be emptied. */
  refused = false;
  /** Something other than white space stands in it. */
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

  /** @throws BodyFull where the URL by itself is larger than a whole body may be */
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
