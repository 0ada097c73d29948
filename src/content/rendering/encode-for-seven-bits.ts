import {
  decodedContent,
  type MimeEntity,
  readEntity,
  splitParts,
} from '../../base/mime/mime-entity.ts';
import { base64LineBytes, encodedLength } from '../message/attachment.ts';

/** RFC 5322 section 2.1.1, without the line break. */
const maxLineOctets = 998;
const maxDepth = 8;
/** Texts up to this size stay readable; quoted-printable takes several times as long as base64. */
const maxReadableBytes = 1_024 * 1_024;

/** True if a line has more octets than a server must accept. */
export function hasLongLines(bytes: Buffer): boolean {
  let start = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes[at] !== lf) continue;
    if (at - start - 1 > maxLineOctets) return true;
    start = at + 1;
  }
  return bytes.length - start > maxLineOctets;
}

/** True if an octet is not ASCII. */
export function isEightBit(bytes: Buffer): boolean {
  for (const octet of bytes) if (octet > 127) return true;
  return false;
}

const lf = 10;

/**
 * Finds what a seven-bit server can't take. The parts of a message are asked about from front to back, outer before inner, so
 * that all of them together are scanned once.
 */
class UnsafeOctets {
  readonly #message: Buffer;
  /** No octet from `#from` up to `#found` is unsafe. */
  #from = 0;
  #found = 0;

  constructor(message: Buffer) {
    this.#message = message;
  }

  /** Whether there is any in a part of the message, which begins with a line. */
  isIn(part: Buffer): boolean {
    const start = part.byteOffset - this.#message.byteOffset;
    if (start < this.#from || start > this.#found) {
      this.#from = start;
      this.#found = this.#find(start);
    }
    return this.#found < start + part.length;
  }

  #find(start: number): number {
    const message = this.#message;
    let lineStart = start;
    for (let at = start; at < message.length; at += 1) {
      const octet = message[at] ?? 0;
      if (octet > 127) return at;
      if (octet === lf) lineStart = at + 1;
      else if (at - lineStart >= maxLineOctets && octet !== cr) return at;
    }
    return message.length;
  }
}

const cr = 13;

/**
 * Encodes a message for servers without 8BITMIME (RFC 6152 section 3), or with lines that are too long: each part that
 * needs it becomes quoted-printable or base64. The same message gives the same bytes.
 * @param message with CRLF line ends; the octets of header fields stay as they are
 */
export function encodeForSevenBits(message: Buffer): Buffer {
  return encodeEntity(message, 0, new UnsafeOctets(message));
}

function encodeEntity(bytes: Buffer, depth: number, unsafe: UnsafeOctets): Buffer {
  const entity = readEntity(bytes);
  const { body, type, boundary, encoding } = entity;
  if (!unsafe.isIn(body) && encoding !== '8bit' && encoding !== 'binary') return bytes;
  if (depth < maxDepth && boundary !== undefined) {
    const { separators, parts } = splitParts(body, boundary);
    const pieces = separators.flatMap((separator, index) => {
      const part = parts[index];
      return part === undefined ? [separator] : [separator, encodeEntity(part, depth + 1, unsafe)];
    });
    return Buffer.concat([withEncoding(entity, '7bit'), ...pieces]);
  }
  // RFC 2046 section 5.2.1: an attached message can't be encoded itself.
  if (depth < maxDepth && type === 'message/rfc822')
    return Buffer.concat([withEncoding(entity, '7bit'), encodeEntity(body, depth + 1, unsafe)]);
  return encodeLeaf(entity);
}

function encodeLeaf(entity: MimeEntity): Buffer {
  const { type } = entity;
  const content = decodedContent(entity);
  const isReadable = type.startsWith('text/') && content.length <= maxReadableBytes;
  return isReadable
    ? Buffer.concat([withEncoding(entity, 'quoted-printable'), toQuotedPrintable(content)])
    : Buffer.concat([withEncoding(entity, 'base64'), base64Lines(content)]);
}

/** An entity with another content, in the transfer encoding that it has, unless lines would be too long in it. */
export function replaceContent(entity: MimeEntity, content: Buffer): Buffer {
  const { head, encoding } = entity;
  if (encoding === 'base64') return Buffer.concat([head, base64Lines(content)]);
  if (encoding === 'quoted-printable') return Buffer.concat([head, toQuotedPrintable(content)]);
  return hasLongLines(content)
    ? Buffer.concat([withEncoding(entity, 'quoted-printable'), toQuotedPrintable(content)])
    : Buffer.concat([head, content]);
}

/** The head with this transfer encoding as its only one. */
function withEncoding({ fields }: MimeEntity, encoding: string): Buffer {
  const kept = fields.all.filter(({ name }) => name !== 'content-transfer-encoding');
  const ended = kept.map(({ raw }) => (raw.endsWith('\n') ? raw : `${raw}\r\n`));
  return Buffer.from(`${ended.join('')}Content-Transfer-Encoding: ${encoding}\r\n\r\n`, 'latin1');
}

const maxColumn = 75;

const equals = 61;
const hexDigits = Buffer.from('0123456789ABCDEF');

/**
 * RFC 2045 section 6.7; CRLF in the content is a line break. Written octet by octet, because a string that grows by characters
 * keeps an object for each, and collecting them takes more time than encoding.
 */
function toQuotedPrintable(content: Buffer): Buffer {
  const longest = content.length * 3;
  // A line that must break has at least maxColumn - 2 columns.
  const encoded = Buffer.allocUnsafeSlow(longest + 3 * Math.ceil(longest / (maxColumn - 2)));
  let at = 0;
  let column = 0;
  const breakLine = (): void => {
    encoded[at] = cr;
    encoded[at + 1] = lf;
    at += 2;
    column = 0;
  };
  const isLineEnd = (index: number): boolean => content[index] === cr && content[index + 1] === lf;
  for (let index = 0; index < content.length; index += 1) {
    if (isLineEnd(index)) {
      breakLine();
      index += 1;
      continue;
    }
    const octet = content[index] ?? 0;
    const isSpace = octet === 32 || octet === 9;
    const isLast = index + 1 === content.length || isLineEnd(index + 1);
    const isLiteral = (octet > 32 && octet < 127 && octet !== equals) || (isSpace && !isLast);
    const width = isLiteral ? 1 : 3;
    if (column + width > maxColumn) {
      encoded[at] = equals;
      at += 1;
      breakLine();
    }
    if (isLiteral) encoded[at] = octet;
    else {
      encoded[at] = equals;
      encoded[at + 1] = hexDigits[octet >> 4] ?? 0;
      encoded[at + 2] = hexDigits[octet & 15] ?? 0;
    }
    at += width;
    column += width;
  }
  return encoded.subarray(0, at);
}

/** Base64 in lines (RFC 2045 section 6.8). */
export function base64Lines(content: Buffer): Buffer {
  const encoded = Buffer.allocUnsafeSlow(encodedLength(content.length));
  let at = 0;
  for (let start = 0; start < content.length; start += base64LineBytes)
    at += encoded.write(
      `${content.toString('base64', start, Math.min(start + base64LineBytes, content.length))}\r\n`,
      at,
      'latin1',
    );
  return encoded.subarray(0, at);
}
