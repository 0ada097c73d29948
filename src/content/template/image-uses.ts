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
export interface ImageUses {
  readonly ids: readonly string[];
  has(contentId: string): boolean;
}

export const noImageUses: ImageUses = { ids: [], has: () => false };

/** @param html finished, with placeholders for tags */
export function findImageUses(html: string, placeholders: TagPlaceholders): ImageUses {
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
  const ids = new Set(fixed.map(decodeContentId));
  // A field in a content ID can make it any.
  const isAny = fixed.length < found.length;
  return { ids: [...ids].slice(0, maxIds), has: (contentId) => isAny || ids.has(contentId) };
}
