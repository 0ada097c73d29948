import { decoderOf } from '../../base/mime/decode.ts';
import {
  decodedContent,
  type MimeEntity,
  readEntity,
  splitParts,
} from '../../base/mime/mime-entity.ts';
import { MAX_SOURCE_LENGTH } from '../template/template-limits.ts';

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

/** The content of each part that tracking changes, in order. */
export function htmlParts(message: Buffer): { readonly html: string; readonly charset: string }[] {
  const found: { readonly html: string; readonly charset: string }[] = [];
  mapLeaves(message, 0, (entity) => {
    if (isTracked(entity))
      found.push({
        html: decodedContent(entity).toString('latin1'),
        charset: entity.charset ?? 'utf-8',
      });
    return undefined;
  });
  return found;
}

/** True for HTML that can be tracked. */
export function isTracked(entity: MimeEntity): boolean {
  return isHtmlBody(entity) && problemOf(entity) === undefined;
}

/**
 * Replaces the parts of a message that have no parts themselves. Messages in messages aren't looked into.
 * @param replace undefined: the part stays as it is
 */
export function mapLeaves(
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
