import libmime from 'libmime';
import { decodeWords } from '../foundation/decode-words.ts';

/** A message or a part of one: a head and a body (RFC 2045 section 2.4). */
export interface MimeEntity {
  /** Its fields with the empty line at their end, which is missing if the body is. */
  readonly head: Buffer;
  readonly body: Buffer;
  /** In lower case, without parameters. */
  readonly type: string;
  /** Of Content-Transfer-Encoding, in lower case. */
  readonly encoding: string;
  /** Of a multipart. */
  readonly boundary: string | undefined;
  /** What its sender calls it, decoded. */
  readonly filename: string | undefined;
  /** A file beside the message, even without a name (RFC 2183). */
  readonly isAttachment: boolean;
  /** Of a text. */
  readonly charset: string | undefined;
}

/** Longer fields have no parameters that matter. */
const maxFieldLength = 4_000;

/** Larger ones than any submission has, so that one isn't read in vain. */
const maxHeadBytes = 256 * 1_024;

/** Reads an entity with CRLF line ends. */
export function readEntity(bytes: Buffer): MimeEntity {
  const headEnd = findHeadEnd(bytes);
  const head = bytes.subarray(0, headEnd);
  const content = parseField(head, 'content-type');
  const disposition = parseField(head, 'content-disposition');
  const type = content?.value.trim().toLowerCase() || 'text/plain';
  const filename = disposition?.params.filename ?? content?.params.name;
  return {
    head,
    body: bytes.subarray(headEnd),
    type,
    encoding: parseField(head, 'content-transfer-encoding')?.value.trim().toLowerCase() ?? '7bit',
    boundary: type.startsWith('multipart/') ? content?.params.boundary : undefined,
    filename: filename === undefined ? undefined : decodeWords(filename),
    isAttachment: disposition?.value.trim().toLowerCase() === 'attachment',
    charset: content?.params.charset,
  };
}

/** Without an empty line, a short entity has only fields, and a long one only content. */
function findHeadEnd(bytes: Buffer): number {
  if (bytes[0] === 13 && bytes[1] === 10) return 2;
  const end = bytes.subarray(0, maxHeadBytes).indexOf('\r\n\r\n');
  if (end !== -1) return end + 4;
  return bytes.length <= maxHeadBytes ? bytes.length : 0;
}

function parseField(head: Buffer, name: string) {
  const text = headFields(head).find((field) => field.toLowerCase().startsWith(`${name}:`));
  if (text === undefined) return undefined;
  return libmime.parseHeaderValue(
    text.slice(name.length + 1, maxFieldLength).replaceAll('\r\n', ''),
  );
}

/** The fields of a head with their line ends, one character per byte. */
export function headFields(head: Buffer): string[] {
  const text = head.toString('latin1').replace(/\r\n$/, '');
  return text === '' ? [] : text.split(/(?<=\r\n)(?![ \t])/);
}

/** A multipart's body: what is between its parts, and the parts; they alternate, beginning and ending with the former. */
export interface SplitParts {
  readonly separators: readonly Buffer[];
  readonly parts: readonly Buffer[];
}

const maxParts = 1_000;

/** Splits the body of a multipart at its boundary (RFC 2046 section 5.1.1). */
export function splitParts(body: Buffer, boundary: string): SplitParts {
  const delimiter = Buffer.from(`--${boundary}`, 'latin1');
  const separators: Buffer[] = [];
  const parts: Buffer[] = [];
  let separatorStart = 0;
  let at = findDelimiter(body, delimiter, 0);
  while (at !== -1 && parts.length < maxParts) {
    const afterName = at + delimiter.length;
    const lineEnd = body.indexOf('\r\n', afterName);
    if (body.toString('latin1', afterName, afterName + 2) === '--' || lineEnd === -1) break;
    const start = lineEnd + 2;
    const next = findDelimiter(body, delimiter, start);
    // The line break before a delimiter belongs to it.
    const end = next === -1 ? body.length : Math.max(start, next - 2);
    separators.push(body.subarray(separatorStart, start));
    parts.push(body.subarray(start, end));
    separatorStart = end;
    at = next;
  }
  return { separators: [...separators, body.subarray(separatorStart)], parts };
}

/** The position of a delimiter at the start of a line. */
function findDelimiter(body: Buffer, delimiter: Buffer, from: number): number {
  for (let at = body.indexOf(delimiter, from); at !== -1; at = body.indexOf(delimiter, at + 1)) {
    if (at === 0 || body[at - 1] === 10) return at;
  }
  return -1;
}
