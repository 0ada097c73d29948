/** Schemes that a value may bring along where it is a whole URL. */
const WHOLE_URL = /^(?:https?:\/\/|mailto:)/i;
const SPACE_OR_CONTROL = /[\s\p{Cc}]/gu;
/** What would end a `url(…)` in a style. */
const CSS_SPECIAL = /["'()\\]/g;

/** Assembles one URL from its parts; a value that stands first has to be a whole URL. */
export class UrlBuilder {
  url = '';
  /** The value that began the URL cannot be used as one; the link has to be emptied. */
  refused = false;
  readonly #css: boolean;

  constructor(css: boolean) {
    this.#css = css;
  }

  addStatic(text: string): void {
    this.url += text;
  }

  addValue(value: string): void {
    if (this.refused) return;
    const encoded = this.url.trim() === '' ? this.#wholeUrl(value) : encodeURIComponent(value);
    this.url += this.#css ? encoded.replace(CSS_SPECIAL, percentEncode) : encoded;
  }

  #wholeUrl(value: string): string {
    const url = value.trim();
    if (!WHOLE_URL.test(url) || !URL.canParse(url)) {
      this.refused = true;
      return '';
    }
    return url.replace(SPACE_OR_CONTROL, percentEncode);
  }
}

function percentEncode(character: string): string {
  const octets = Buffer.from(character, 'utf8');
  return Array.from(
    octets,
    (octet) => `%${octet.toString(16).toUpperCase().padStart(2, '0')}`,
  ).join('');
}
