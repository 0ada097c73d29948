import { decodeContentId } from '../../base/mime/decode.ts';
import { mapHtml } from './map-html.ts';
import type { TagPlaceholders } from './protect-markup.ts';

/** Attributes with one URL, and those with several in other text. */
const wholeUrl = /^\s*cid:([^\s]+)\s*$/i;
const inText = /\bcid:([^\s"'(),;]+)/gi;
const cssUrl = /url\(\s*(?:["']\s*)?cid:([^\s"'()]+)/gi;
const listAttributes = new Set(['srcset', 'imagesrcset']);

/** Named in warnings; a template can have thousands. */
const maxIds = 50;

/** The content IDs that an HTML document refers to as `cid:…` (RFC 2392). */
export class ImageUses {
  readonly ids: readonly string[];
  readonly #ids: ReadonlySet<string>;
  /** A field is part of a content ID, so it can be any. */
  readonly #any: boolean;

  constructor(ids: ReadonlySet<string>, any: boolean) {
    this.ids = [...ids].slice(0, maxIds);
    this.#ids = ids;
    this.#any = any;
  }

  /** @param html finished, with placeholders for tags */
  static in(html: string, placeholders: TagPlaceholders): ImageUses {
    if (!/cid:/i.test(html)) return noImageUses;
    const found = [...html.matchAll(cssUrl)].map((match) => match[1] ?? '');
    for (const range of mapHtml(html).ranges) {
      if (range.kind !== 'attribute') continue;
      const { name, value } = range;
      const whole = wholeUrl.exec(value)?.[1];
      if (whole !== undefined) found.push(whole);
      const pattern = listAttributes.has(name) ? inText : cssUrl;
      for (const match of value.matchAll(pattern)) found.push(match[1] ?? '');
    }
    const fixed = found.filter((id) => placeholders.find(id).length === 0);
    return new ImageUses(new Set(fixed.map(decodeContentId)), fixed.length < found.length);
  }

  has(contentId: string): boolean {
    return this.#any || this.#ids.has(contentId);
  }
}

export const noImageUses = new ImageUses(new Set(), false);
