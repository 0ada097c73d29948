import { decoderOf } from '../foundation/mime/decode-text.ts';
import { type MailTurn, mailJob } from '../foundation/mime/mail-threads.ts';
import {
  contentOf,
  type MimeEntity,
  readEntity,
  splitParts,
} from '../foundation/mime/mime-entity.ts';
import { escapeHtml } from '../template/escape-html.ts';
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
  return isReadable(charset)
    ? undefined
    : `can’t be used with HTML in the charset ${charset}; use UTF-8`;
}

/** A link in HTML, one character per octet. */
export interface HtmlLink {
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

/** The content of each part that tracking changes, in order. */
export function htmlParts(message: Buffer): { readonly html: string; readonly charset: string }[] {
  const found: { readonly html: string; readonly charset: string }[] = [];
  mapLeaves(message, 0, (entity) => {
    if (isTracked(entity))
      found.push({
        html: contentOf(entity).toString('latin1'),
        charset: entity.charset ?? 'utf-8',
      });
    return undefined;
  });
  return found;
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
    const html = contentOf(entity).toString('latin1');
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

function isTracked(entity: MimeEntity): boolean {
  return isHtmlBody(entity) && problemOf(entity) === undefined;
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
function isHtmlBody({ type, filename, disposition, body }: MimeEntity): boolean {
  const isFile = filename !== undefined || disposition === 'attachment';
  return type === 'text/html' && !isFile && body.length > 0;
}

/** True if octets below 128 are ASCII in a known charset. */
function isReadable(charset: string): boolean {
  const encoding = decoderOf(charset)?.encoding;
  return encoding !== undefined && !unreadableCharsets.has(encoding);
}
