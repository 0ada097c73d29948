import { decodeTransferEncoding } from '../foundation/decode-transfer-encoding.ts';
import { type MimeEntity, readEntity, splitParts } from '../message/mime-entity.ts';
import { escapeHtml } from '../template/escape-html.ts';
import { type AttributeRange, isLinkTarget, isTrackingOff, mapHtml } from '../template/map-html.ts';
import { MAX_SOURCE_LENGTH } from '../template/template-limits.ts';
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

/** Programs nest about four. */
const maxDepth = 8;
/** Further links stay as they are, because each can become two thousand octets. */
const maxTrackedLinks = 1_000;
/** Any change would break the signature, or nothing can be read. */
const protectedTypes = new Set([
  'multipart/signed',
  'multipart/encrypted',
  'application/pkcs7-mime',
  'application/x-pkcs7-mime',
]);
const readableEncodings = new Set(['7bit', '8bit', 'binary', 'quoted-printable', 'base64']);
/** Octets below 128 aren't always ASCII in them. */
const unreadableCharsets = new Set(['utf-16le', 'utf-16be', 'iso-2022-jp']);
const ascii = /^[\0-\x7f]*$/;

/**
 * Why a complete message can't be tracked.
 * @param message with CRLF line ends
 * @returns undefined if it can, also if there is no HTML
 */
export function findUntrackable(message: Buffer): string | undefined {
  let problem: string | undefined;
  let htmlBytes = 0;
  mapLeaves(message, 0, (entity) => {
    htmlBytes += isHtmlBody(entity) ? entity.body.length : 0;
    problem ??= problemOf(entity);
    return undefined;
  });
  if (problem === undefined && htmlBytes > MAX_SOURCE_LENGTH)
    return `can’t be used with more than ${MAX_SOURCE_LENGTH / 1_024} KiB of HTML`;
  return problem;
}

function problemOf(entity: MimeEntity): string | undefined {
  const { type, encoding, charset = 'utf-8' } = entity;
  if (protectedTypes.has(type)) return `can’t be used in a signed or encrypted message (${type})`;
  if (!isHtmlBody(entity)) return undefined;
  if (!readableEncodings.has(encoding))
    return `can’t be used with HTML in the encoding ${encoding}; use quoted-printable`;
  return decoderOf(charset) === undefined
    ? `can’t be used with HTML in the charset ${charset}; use UTF-8`
    : undefined;
}

/**
 * Tracks the links and opens of a complete message. Only its HTML changes, and of that only targets of links and the end:
 * everything else stays byte for byte. The same message and tracking give the same bytes.
 * @param message with CRLF line ends
 */
export function trackHtmlParts(message: Buffer, tracking: HtmlTracking): Buffer {
  let links = 0;
  return mapLeaves(message, 0, (entity) => {
    if (!isHtmlBody(entity) || problemOf(entity) !== undefined) return undefined;
    const content = decodeTransferEncoding(entity.body.toString('latin1'), entity.encoding);
    const tracked = new HtmlTracker(entity.charset, tracking, links);
    const html = tracked.track(content.toString('latin1'));
    links = tracked.links;
    return replaceContent(entity, Buffer.from(html, 'latin1'));
  });
}

/**
 * Replaces the parts of a message that have no parts themselves. Messages in messages aren't looked into.
 * @param replace undefined: the part stays as it is
 */
function mapLeaves(
  bytes: Buffer,
  depth: number,
  replace: (entity: MimeEntity) => Buffer | undefined,
): Buffer {
  const entity = readEntity(bytes);
  const { head, body, type, boundary } = entity;
  if (boundary === undefined || protectedTypes.has(type) || depth === maxDepth)
    return replace(entity) ?? bytes;
  const { separators, parts } = splitParts(body, boundary);
  const mapped = parts.map((part) => mapLeaves(part, depth + 1, replace));
  if (mapped.every((part, index) => part === parts[index])) return bytes;
  return Buffer.concat([
    head,
    ...separators.flatMap((separator, index) => [separator, mapped[index] ?? Buffer.alloc(0)]),
  ]);
}

/** HTML that mail programs show, not a file. */
function isHtmlBody({ type, filename, isAttachment, body }: MimeEntity): boolean {
  return type === 'text/html' && filename === undefined && !isAttachment && body.length > 0;
}

function decoderOf(charset: string): InstanceType<typeof TextDecoder> | undefined {
  try {
    const decoder = new TextDecoder(charset);
    return unreadableCharsets.has(decoder.encoding) ? undefined : decoder;
  } catch {
    return undefined;
  }
}

/** Works on one character per octet, so that text in any charset stays as it is. */
class HtmlTracker {
  readonly #charset: string | undefined;
  readonly #tracking: HtmlTracking;
  /** Found so far, in all parts. */
  links: number;

  constructor(charset: string | undefined, tracking: HtmlTracking, links: number) {
    this.#charset = charset;
    this.#tracking = tracking;
    this.links = links;
  }

  track(html: string): string {
    const { ranges, bodyEnd } = mapHtml(html);
    const { rewriteUrl, hiddenLink } = this.#tracking;
    const changes: { readonly start: number; readonly end: number; readonly text: string }[] = [];
    let hasLinks = false;
    for (const range of rewriteUrl === undefined ? [] : ranges) {
      if (range.kind !== 'attribute' || !isLinkTarget(range)) continue;
      const index = this.links;
      this.links += 1;
      if (index >= maxTrackedLinks || isTrackingOff(range)) continue;
      const url = this.#urlOf(range, html).trim();
      if (!/^https?:/i.test(url)) continue;
      hasLinks = true;
      const address = rewriteUrl?.(url, index) ?? url;
      const quote = range.quoted ? '' : '"';
      if (address !== url)
        changes.push({ ...range, text: `${quote}${escapeHtml(address)}${quote}` });
    }
    const added = (hasLinks ? hiddenLink : '') + this.#tracking.bodyEnd;
    changes.push({ start: bodyEnd, end: bodyEnd, text: added });
    changes.sort((a, b) => a.start - b.start);
    let result = '';
    let from = 0;
    for (const { start, end, text } of changes) {
      result += html.slice(from, start) + text;
      from = end;
    }
    return result + html.slice(from);
  }

  #urlOf({ start, end, value }: AttributeRange, html: string): string {
    const written = html.slice(start, end);
    if (ascii.test(written)) return value;
    const text = decoderOf(this.#charset ?? 'utf-8')?.decode(Buffer.from(written, 'latin1')) ?? '';
    const [range] = mapHtml(`<a href="${text.replaceAll('"', '&quot;')}">`).ranges;
    return range?.kind === 'attribute' ? range.value : '';
  }
}
