/** A header field of a message: its name in lowercase, and the whole field without its final CRLF. */
export interface RawHeaderField {
  readonly name: string;
  readonly raw: string;
}

/** A message split at its first empty line. Text is latin1, one character per byte. */
export interface MessageParts {
  readonly fields: readonly RawHeaderField[];
  readonly body: Buffer;
}

const emptyLine = Buffer.from('\r\n\r\n');
const nothing = Buffer.alloc(0);

/** Splits a message with CRLF line endings into header fields and body. */
export function splitMessage(mime: Buffer): MessageParts {
  const end = mime.indexOf(emptyLine);
  const header = mime.toString('latin1', 0, end === -1 ? mime.length : end);
  const fields = header
    .split(/\r\n(?![ \t])/)
    .filter((raw) => raw.includes(':'))
    .map((raw) => ({ name: trimBlanks(raw.slice(0, raw.indexOf(':'))).toLowerCase(), raw }));
  return { fields, body: end === -1 ? nothing : mime.subarray(end + emptyLine.length) };
}

/**
 * RFC 6376 section 3.4.2, relaxed: lowercase name, unfolded, runs of white space reduced to one space. No final CRLF.
 */
export function relaxField(raw: string): string {
  const colon = raw.indexOf(':');
  const name = trimBlanks(raw.slice(0, colon)).toLowerCase();
  const value = raw.slice(colon + 1);
  // Most fields are in this form already, except for the space after the colon.
  const plain = !value.includes('\r') && !value.includes('\t') && !value.includes('  ');
  const relaxed = plain ? value : value.replace(/\r\n/g, '').replace(/[ \t]+/g, ' ');
  return `${name}:${trimBlanks(relaxed)}`;
}

/** Only space and tab are white space (RFC 6376 section 2.8); to `trim`, so is the byte A0 of many characters in UTF-8. */
function trimBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text, start)) start += 1;
  while (end > start && isBlank(text, end - 1)) end -= 1;
  return text.slice(start, end);
}

function isBlank(text: string, at: number): boolean {
  return text[at] === ' ' || text[at] === '\t';
}

/**
 * RFC 6376 section 3.4.4, relaxed: no trailing white space in lines, runs reduced to one space, no empty lines at the
 * end. Returns the same buffer if the body is in this form already, as most are.
 */
export function relaxBody(body: Buffer): Buffer {
  return trimEnd(isRelaxed(body) ? body : reduceSpace(body));
}

function isRelaxed(body: Buffer): boolean {
  return (
    !body.includes('  ') && !body.includes('\t') && !body.includes(' \r\n') && body.at(-1) === 10
  );
}

const space = 32;
const tab = 9;
const carriageReturn = 13;
const lineFeed = 10;

function reduceSpace(body: Buffer): Buffer {
  const reduced = Buffer.allocUnsafe(body.length + 2);
  let length = 0;
  let gap = false;
  for (let index = 0; index < body.length; index += 1) {
    const byte = body[index] ?? 0;
    if (byte === space || byte === tab) {
      gap = true;
      continue;
    }
    if (gap && !(byte === carriageReturn && body[index + 1] === lineFeed)) {
      reduced[length] = space;
      length += 1;
    }
    gap = false;
    reduced[length] = byte;
    length += 1;
  }
  // Terminate an unterminated last line.
  if (length > 0 && !(reduced[length - 1] === lineFeed && reduced[length - 2] === carriageReturn)) {
    reduced[length] = carriageReturn;
    reduced[length + 1] = lineFeed;
    length += 2;
  }
  return reduced.subarray(0, length);
}

function trimEnd(body: Buffer): Buffer {
  let end = body.length;
  while (end >= 4 && body.toString('latin1', end - 4, end) === '\r\n\r\n') end -= 2;
  if (end === 2 && body.toString('latin1', 0, 2) === '\r\n') end = 0;
  return body.subarray(0, end);
}
