import { decodeText, decodeTransferEncoding, decodeWords } from './decode.ts';
import { MailFields, maxStructuredLength, readParameters } from './header-fields.ts';

/** A message or a part of one: a head and a body (RFC 2045 section 2.4). */
export interface MimeEntity {
  /** Its fields with the empty line at their end, which is missing if the body is. */
  readonly head: Buffer;
  readonly fields: MailFields;
  readonly body: Buffer;
  /** In lower case, without parameters. */
  readonly type: string;
  /** Of Content-Type, by lower-case name. */
  readonly params: ReadonlyMap<string, readonly string[]>;
  /** Of Content-Transfer-Encoding, in lower case. */
  readonly encoding: string;
  /** Of a multipart. */
  readonly boundary: string | undefined;
  /** What its sender calls it, decoded. */
  readonly filename: string | undefined;
  /** All names that a mail program could show. */
  readonly filenames: readonly string[];
  /** Of Content-Disposition, in lower case (RFC 2183). */
  readonly disposition: string | undefined;
  /** Of a text. */
  readonly charset: string | undefined;
  /** Why mail programs disagree about how to read it. */
  readonly ambiguity: string | undefined;
}

/** Larger ones than any submission has, so that one isn't read in vain. */
const maxHeadBytes = 256 * 1_024;
/** RFC 2046 section 5.1.1 allows 70 characters. */
const usableBoundary = /^[\0-\x7f]{1,200}$/;

const structuredNames = ['Content-Type', 'Content-Transfer-Encoding', 'Content-Disposition'];

/** Reads an entity. Its lines end in CRLF; a bare LF counts as one, too. */
export function readEntity(bytes: Buffer): MimeEntity {
  const headEnd = findHeadEnd(bytes);
  const head = bytes.subarray(0, headEnd);
  const body = bytes.subarray(headEnd);
  const fields = new MailFields(head);
  const content = readParameters(fields.get('content-type') ?? '');
  const disposition = readParameters(fields.get('content-disposition') ?? '');
  const type = content.value || 'text/plain';
  const filenames = [
    ...(disposition.params.get('filename') ?? []),
    ...(content.params.get('name') ?? []),
  ].map(decodeWords);
  const boundaries = type.startsWith('multipart/') ? (content.params.get('boundary') ?? []) : [];
  const boundary = boundaries.find((text) => usableBoundary.test(text));
  return {
    head,
    fields,
    body,
    type,
    params: content.params,
    encoding: readParameters(fields.get('content-transfer-encoding') ?? '').value || '7bit',
    boundary,
    filename: filenames[0],
    filenames,
    disposition: disposition.value || undefined,
    charset: content.params.get('charset')?.[0],
    ambiguity: findAmbiguity(fields, type, boundaries, boundary),
  };
}

function findAmbiguity(
  fields: MailFields,
  type: string,
  boundaries: readonly string[],
  boundary: string | undefined,
): string | undefined {
  for (const name of structuredNames) {
    const [value = '', ...others] = fields.values(name.toLowerCase());
    if (others.length > 0) return `has more than one ${name}`;
    if (value.length > maxStructuredLength)
      return `has a ${name} of more than ${maxStructuredLength} characters`;
  }
  if (!type.startsWith('multipart/')) return undefined;
  if (boundaries.length > 1) return 'has more than one boundary';
  return boundary === undefined ? `is ${type} without a usable boundary` : undefined;
}

/** Without an empty line, a short entity has only fields, and a long one only content. */
export function findHeadEnd(bytes: Buffer): number {
  const limit = Math.min(bytes.length, maxHeadBytes);
  let lineStart = 0;
  for (let at = 0; at < limit; at += 1) {
    if (bytes[at] !== lf) continue;
    if (at === lineStart || (at === lineStart + 1 && bytes[lineStart] === cr)) return at + 1;
    lineStart = at + 1;
  }
  return bytes.length <= maxHeadBytes ? bytes.length : 0;
}

const lf = 10;
const cr = 13;
const dash = 45;
const space = 32;
const tab = 9;

/** The decoded content of an entity without parts. @param maxBytes of the encoded content that are read */
export function decodedContent({ body, encoding }: MimeEntity, maxBytes = body.length): Buffer {
  return decodeTransferEncoding(body.toString('latin1', 0, maxBytes), encoding);
}

/** The decoded content as text. */
export function decodedText(entity: MimeEntity, maxBytes?: number): string {
  return decodeText(decodedContent(entity, maxBytes), entity.charset);
}

/** A multipart's body: what is between its parts, and the parts; they alternate, beginning and ending with the former. */
interface SplitParts {
  readonly separators: readonly Buffer[];
  readonly parts: readonly Buffer[];
}

const maxParts = 1_000;

/** Splits the body of a multipart at its boundary (RFC 2046 section 5.1.1), in one pass. */
export function splitParts(body: Buffer, boundary: string): SplitParts {
  const name = Buffer.from(boundary, 'latin1');
  const separators: Buffer[] = [];
  const parts: Buffer[] = [];
  let separatorStart = 0;
  let partStart: number | undefined;
  for (let at = 0; at < body.length && parts.length < maxParts; ) {
    const delimiter = readDelimiter(body, at, name);
    if (delimiter !== undefined) {
      if (partStart !== undefined) {
        // The line break before a delimiter belongs to it.
        const end = Math.max(partStart, beforeLineBreak(body, at));
        separators.push(body.subarray(separatorStart, partStart));
        parts.push(body.subarray(partStart, end));
        separatorStart = end;
        partStart = undefined;
      }
      if (delimiter.closes) break;
      partStart = delimiter.end;
    }
    at = delimiter?.end ?? nextLine(body, at);
  }
  if (partStart !== undefined && parts.length < maxParts) {
    separators.push(body.subarray(separatorStart, partStart));
    parts.push(body.subarray(partStart));
    separatorStart = body.length;
  }
  return { separators: [...separators, body.subarray(separatorStart)], parts };
}

/** The delimiter in the line at this position, which only blanks can follow. */
function readDelimiter(
  body: Buffer,
  lineStart: number,
  name: Buffer,
): { readonly closes: boolean; readonly end: number } | undefined {
  if (body[lineStart] !== dash || body[lineStart + 1] !== dash) return undefined;
  let at = lineStart + 2;
  for (const octet of name) {
    if (body[at] !== octet) return undefined;
    at += 1;
  }
  const closes = body[at] === dash && body[at + 1] === dash;
  if (closes) at += 2;
  while (body[at] === space || body[at] === tab) at += 1;
  if (body[at] === cr) at += 1;
  if (at >= body.length) return { closes, end: body.length };
  return body[at] === lf ? { closes, end: at + 1 } : undefined;
}

function beforeLineBreak(body: Buffer, lineStart: number): number {
  const end = lineStart > 0 ? lineStart - 1 : lineStart;
  return end > 0 && body[end - 1] === cr ? end - 1 : end;
}

function nextLine(body: Buffer, from: number): number {
  let at = from;
  while (at < body.length && body[at] !== lf) at += 1;
  return at + 1;
}

/** A message has more parts than a reader looks at, or they are nested deeper. */
export class TooManyParts extends Error {
  override name = 'TooManyParts';
}

interface PartLimits {
  readonly parts: number;
  /** Each level is scanned again; programs nest about four. */
  readonly depth: number;
  /** Whether to look into attached messages that aren't encoded. */
  readonly messages: boolean;
  /** Whether to guess a boundary that the header doesn't name right. */
  readonly guess?: boolean;
}

/** A part, and where it is: its places from 1, such as `2.1`; empty for the whole message. */
export interface PlacedPart {
  readonly entity: MimeEntity;
  readonly place: string;
  /** False for a multipart, and for a message that is looked into. */
  readonly isLeaf: boolean;
}

/**
 * All parts of a message, outer before inner.
 * @throws TooManyParts beyond the limits
 */
export function* walkParts(message: Buffer, limits: PartLimits): Generator<PlacedPart> {
  const waiting = [{ bytes: message, place: '', depth: 0 }];
  let seen = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    seen += 1;
    const { bytes, place, depth } = next;
    const entity = readEntity(bytes);
    const inner = partsOf(entity, limits);
    if (seen + waiting.length + inner.length > limits.parts || depth > limits.depth)
      throw new TooManyParts(
        `has more than ${limits.parts} parts, or parts nested deeper than ${limits.depth}`,
      );
    yield { entity, place, isLeaf: inner.length === 0 };
    for (const [index, part] of [...inner.entries()].reverse())
      waiting.push({
        bytes: part,
        place: place === '' ? `${index + 1}` : `${place}.${index + 1}`,
        depth: depth + 1,
      });
  }
}

function partsOf(entity: MimeEntity, { messages, guess }: PartLimits): readonly Buffer[] {
  const { type, boundary, body } = entity;
  if (type.startsWith('multipart/')) {
    const parts = boundary === undefined ? [] : splitParts(body, boundary).parts;
    if (parts.length > 0 || guess !== true) return parts;
    const guessed = guessBoundary(body);
    return guessed === undefined ? [] : splitParts(body, guessed).parts;
  }
  return messages && isOpenMessage(entity) ? [body] : [];
}

/** RFC 2046 section 5.2.1, RFC 6532 section 3.7. */
function isOpenMessage({ type, encoding }: MimeEntity): boolean {
  const isMessage = type === 'message/rfc822' || type === 'message/global';
  return isMessage && encoding !== 'base64' && encoding !== 'quoted-printable';
}

/** Bytes in which the first delimiter must be. */
const maxPreamble = 4_096;

/** What the first line with two dashes names, if a field of a part follows. */
function guessBoundary(body: Buffer): string | undefined {
  const start = body.toString('latin1', 0, maxPreamble);
  return /^--([!-~]{1,70})[ \t]*\r?\nContent-/im.exec(start)?.[1];
}
