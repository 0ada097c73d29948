import { type MailTurn, mailJob } from '../../base/mime/mail-threads.ts';
import { decodedContent } from '../../base/mime/mime-entity.ts';
import { isTracked, mapLeaves } from '../message/raw-html.ts';
import { escapeHtml } from '../template/escape-html.ts';
import { replaceContent } from './encode-for-seven-bits.ts';

/** What tracking does with the HTML of a complete message. */
export interface HtmlTracking {
  /** Replaces the target of a link; the same target: it stays as it is. Undefined: clicks aren't tracked. */
  readonly rewriteUrl: ((url: string, index: number) => string) | undefined;
  /** Added to HTML with links, if they are tracked. */
  readonly hiddenLink: string;
  /** Added to all HTML. */
  readonly bodyEnd: string;
}

/** A link in HTML, one character per octet. */
interface HtmlLink {
  /** Of its target, without quotes. */
  readonly start: number;
  readonly end: number;
  readonly quoted: boolean;
  readonly url: string;
}

/** What tracking has to know of the HTML in a part. */
export interface HtmlPart {
  /** Those that can be tracked, with their numbers among all links of the message. */
  readonly links: readonly (HtmlLink & { readonly index: number })[];
  /** Where its content ends. */
  readonly bodyEnd: number;
}

/** A change of HTML, one character per octet. */
export interface HtmlChange {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const mapParts = mailJob<{ readonly source: Buffer }, readonly HtmlPart[]>(
  'map-html-parts-job',
  import.meta.url,
);

/**
 * Finds what tracking changes in the HTML of a complete message.
 * @param message with CRLF line ends
 * @returns for each of `htmlParts`
 */
export async function planTracking(
  message: Buffer,
  tracking: HtmlTracking,
  turn: MailTurn,
): Promise<readonly (readonly HtmlChange[])[]> {
  return planChanges(await mapParts({ source: message }, turn), tracking);
}

/** The changes are the targets of links and the end. The same parts and tracking give the same ones. */
export function planChanges(
  parts: readonly HtmlPart[],
  tracking: HtmlTracking,
): readonly (readonly HtmlChange[])[] {
  const { rewriteUrl, hiddenLink, bodyEnd: pixel } = tracking;
  return parts.map(({ links, bodyEnd }) => {
    const tracked = rewriteUrl === undefined ? [] : links;
    const changes: HtmlChange[] = tracked.flatMap(({ url, index, start, end, quoted }) => {
      const address = rewriteUrl?.(url, index) ?? url;
      const quote = quoted ? '' : '"';
      const text = `${quote}${escapeHtml(address)}${quote}`;
      return address === url ? [] : [{ start, end, text }];
    });
    changes.push({
      start: bodyEnd,
      end: bodyEnd,
      text: (tracked.length > 0 ? hiddenLink : '') + pixel,
    });
    return changes.sort((a, b) => a.start - b.start);
  });
}

/**
 * Changes the HTML of a complete message; everything else stays byte for byte.
 * @param changes from `planTracking`
 */
export function changeHtmlParts(
  message: Buffer,
  changes: readonly (readonly HtmlChange[])[],
): Buffer {
  let place = 0;
  return mapLeaves(message, 0, (entity) => {
    if (!isTracked(entity)) return undefined;
    const html = decodedContent(entity).toString('latin1');
    const pieces: string[] = [];
    let from = 0;
    for (const { start, end, text } of changes[place] ?? []) {
      pieces.push(html.slice(from, start), text);
      from = end;
    }
    place += 1;
    return replaceContent(entity, Buffer.from(pieces.join('') + html.slice(from), 'latin1'));
  });
}
