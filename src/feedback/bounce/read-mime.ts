import { decodeTransferEncoding } from '../../foundation/decode-transfer-encoding.ts';

/** A MIME part with its headers and content. */
export interface MimePart {
  /** In lower case, without parameters. */
  readonly type: string;
  /** Values by lower-case name, unfolded, in order. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  /** Decoded text; only for parts without subparts. */
  readonly text: string;
  readonly parts: readonly MimePart[];
}

const maxDepth = 6;
const maxParts = 100;
/** The relevant text comes first, so the rest isn't read. */
const maxTextLength = 200_000;

/** Max bytes of a message to parse. */
export const maxBytesRead = 2_000_000;

/**
 * Parses a message's structure (RFC 2045, 2046) as far as reports need it. Tolerates common mistakes such as bare line
 * feeds, missing closing boundaries and unknown encodings; never throws.
 */
export function readMime(source: Buffer): MimePart {
  const text = source.toString('latin1', 0, Math.min(source.length, maxBytesRead));
  return readPart(text.replaceAll('\r\n', '\n'), maxDepth, { left: maxParts });
}

function readPart(source: string, depth: number, budget: { left: number }): MimePart {
  budget.left -= 1;
  const [head, body] = splitHead(source);
  const headers = readHeaders(head);
  const contentType = headers.get('content-type')?.[0] ?? 'text/plain';
  const type = (contentType.split(';')[0] ?? '').trim().toLowerCase();
  const boundary = type.startsWith('multipart/') ? boundaryOf(contentType) : undefined;
  if (boundary !== undefined && depth > 0) {
    const parts = splitParts(body, boundary)
      .slice(0, Math.max(0, budget.left))
      .map((part) => readPart(part, depth - 1, budget));
    return { type, headers, text: '', parts };
  }
  const decoded = decode(body.slice(0, maxTextLength), headers, contentType);
  return { type, headers, text: decoded, parts: [] };
}

function splitHead(source: string): [head: string, body: string] {
  if (source.startsWith('\n')) return ['', source.slice(1)];
  const end = source.indexOf('\n\n');
  return end === -1 ? [source, ''] : [source.slice(0, end), source.slice(end + 2)];
}

/** Header fields (RFC 5322 section 2.2) by lower-case name; also used for the fields of reports. */
export function readHeaders(head: string): Map<string, string[]> {
  const headers = new Map<string, string[]>();
  let last: string[] | undefined;
  for (const line of head.split('\n').slice(0, 500)) {
    if (/^[ \t]/.test(line) && last !== undefined) {
      last.push(`${last.pop() ?? ''} ${line.trim()}`.trim());
      continue;
    }
    const field = /^([!-9;-~]{1,80})[ \t]*:[ \t]*(.*)$/.exec(line);
    if (field === null) continue;
    const name = (field[1] ?? '').toLowerCase();
    last = headers.get(name) ?? [];
    last.push((field[2] ?? '').slice(0, 4_000).trimEnd());
    headers.set(name, last);
  }
  return headers;
}

function boundaryOf(contentType: string): string | undefined {
  const found = /;\s*boundary\s*=\s*(?:"([^"]{1,200})"|([^;\s"]{1,200}))/i.exec(contentType);
  return found?.[1] ?? found?.[2];
}

function splitParts(body: string, boundary: string): string[] {
  const marker = `\n--${boundary}`;
  const parts: string[] = [];
  const text = `\n${body}`;
  let at = text.indexOf(marker);
  while (at !== -1 && parts.length < maxParts) {
    const start = at + marker.length;
    if (text.startsWith('--', start)) break;
    const lineEnd = text.indexOf('\n', start);
    if (lineEnd === -1) break;
    const next = text.indexOf(marker, lineEnd);
    parts.push(text.slice(lineEnd + 1, next === -1 ? undefined : next));
    at = next;
  }
  return parts;
}

function decode(
  body: string,
  headers: ReadonlyMap<string, readonly string[]>,
  contentType: string,
): string {
  const bytes = decodeTransferEncoding(body, headers.get('content-transfer-encoding')?.[0]);
  const charset = /;\s*charset\s*=\s*"?([\w.:-]{1,40})/i.exec(contentType)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return bytes.toString('utf8');
  }
}

/** All parts of a message, outer before inner; attached messages aren't opened. */
export function* eachPart(part: MimePart): Generator<MimePart> {
  yield part;
  for (const inner of part.parts) yield* eachPart(inner);
}

/** The first value of a header, or an empty string. */
export function headerOf(part: Pick<MimePart, 'headers'>, name: string): string {
  return part.headers.get(name)?.[0] ?? '';
}
