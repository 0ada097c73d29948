import { htmlText } from '../template/html-text.ts';

/** Schemes allowed in a value that is a whole URL. */
const WHOLE_URL = /^(?:https?:\/\/|mailto:)/i;
const SPACE_OR_CONTROL = /[\s\p{Cc}]/gu;
/** Letters, digits and the symbols of colors, sizes and names; nothing that could start another declaration. */
const STYLE_VALUE = /^[\p{L}\p{M}\p{N} #%+,._-]*$/u;

/**
 * Checks each value of a message once and caches the result. A rejected value adds nothing to the message, so the
 * size limit would not stop a template from checking it a thousand times.
 */
export class CheckedValues {
  // Created on demand: few messages have such values.
  #urls: Map<string, string | undefined> | undefined;
  #styles: Map<string, boolean> | undefined;
  #texts: Map<string, string> | undefined;
  #numbers: Map<string, string> | undefined;

  /** The value as the start of a URL; undefined if it can't be one. */
  wholeUrl(value: string): string | undefined {
    this.#urls ??= new Map();
    if (this.#urls.has(value)) return this.#urls.get(value);
    const url = toWholeUrl(value);
    this.#urls.set(value, url);
    return url;
  }

  /** True if the value is safe in a style. */
  fitsStyle(value: string): boolean {
    this.#styles ??= new Map();
    const cached = this.#styles.get(value);
    if (cached !== undefined) return cached;
    const fits = STYLE_VALUE.test(value);
    this.#styles.set(value, fits);
    return fits;
  }

  /** The value as a part of a telephone number (RFC 3966 section 3): with its separators, except spaces. */
  numberOf(value: string): string {
    this.#numbers ??= new Map();
    const cached = this.#numbers.get(value);
    if (cached !== undefined) return cached;
    const number = encodeURIComponent(value.replace(/\s/g, '')).replaceAll('%2B', '+');
    this.#numbers.set(value, number);
    return number;
  }

  /** The value's HTML as text. */
  textOf(value: string): string {
    this.#texts ??= new Map();
    const cached = this.#texts.get(value);
    if (cached !== undefined) return cached;
    const text = htmlText(value);
    this.#texts.set(value, text);
    return text;
  }
}

function toWholeUrl(value: string): string | undefined {
  const url = value.trim();
  if (!WHOLE_URL.test(url) || !URL.canParse(url)) return undefined;
  return url.replace(SPACE_OR_CONTROL, percentEncode);
}

export function percentEncode(character: string): string {
  const octets = Buffer.from(character, 'utf8');
  return Array.from(
    octets,
    (octet) => `%${octet.toString(16).toUpperCase().padStart(2, '0')}`,
  ).join('');
}
