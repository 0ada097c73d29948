import { decoderOf } from '../../base/mime/decode.ts';
import { htmlParts } from '../message/raw-html.ts';
import { type AttributeRange, isLinkTarget, isTrackingOff, mapHtml } from '../template/map-html.ts';
import type { HtmlPart } from './track-html-parts.ts';

/** Further links stay as they are, because each can become two thousand octets. */
const maxTrackedLinks = 1_000;
const ascii = /^[\0-\x7f]*$/;

/** Finds the links and the end of the HTML in a message. */
export function mapHtmlPartsJob({ source }: { readonly source: Buffer }): HtmlPart[] {
  let count = 0;
  return htmlParts(source).map(({ html, charset }) => {
    const { ranges, bodyEnd } = mapHtml(html);
    const links: HtmlPart['links'][number][] = [];
    for (const range of ranges) {
      if (range.kind !== 'attribute' || !isLinkTarget(range)) continue;
      const index = count;
      count += 1;
      if (index >= maxTrackedLinks || isTrackingOff(range)) continue;
      const url = urlOf(range, html, charset).trim();
      const { start, end, quoted } = range;
      if (/^https?:/i.test(url)) links.push({ start, end, quoted, url, index });
    }
    return { links, bodyEnd };
  });
}

function urlOf({ start, end, value }: AttributeRange, html: string, charset: string): string {
  const written = html.slice(start, end);
  if (ascii.test(written)) return value;
  const text = decoderOf(charset)?.decode(Buffer.from(written, 'latin1')) ?? '';
  const [range] = mapHtml(`<a href="${text.replaceAll('"', '&quot;')}">`).ranges;
  return range?.kind === 'attribute' ? range.value : '';
}
