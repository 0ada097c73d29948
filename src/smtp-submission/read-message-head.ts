import { decodeWords } from '../foundation/decode-words.ts';
import { Fault } from '../foundation/errors.ts';

/** A header field as it came. */
export interface SubmittedField {
  /** In lower case. */
  readonly name: string;
  /** Unfolded (RFC 5322 section 2.2.3), without surrounding spaces; raw UTF-8 is read (RFC 6532). */
  readonly value: string;
  /** All its lines, the final CRLF included. */
  readonly raw: Buffer;
}

export interface SubmittedMessage {
  /** All of it. */
  readonly source: Buffer;
  readonly fields: readonly SubmittedField[];
  readonly body: Buffer;
}

/** Far more than any client writes. */
const maxHeadBytes = 128 * 1_024;
const maxFields = 500;
/** RFC 5322 section 2.2: printable ASCII except the colon. */
const fieldPattern = /^([!-9;-~]{1,200})[ \t]*:([\s\S]*)$/;

/**
 * Splits a message into header fields and body (RFC 5322 section 2.1).
 * @param message with CRLF line ends
 * @throws Fault VALIDATION_FAILED for a line that is no header field, or too large a head
 */
export function readMessageHead(message: Buffer): SubmittedMessage {
  const end = findHeadEnd(message);
  if (end > maxHeadBytes) throw invalidHead(`is larger than ${maxHeadBytes} bytes`);
  const head = message.toString('latin1', 0, end);
  const fields = head === '' ? [] : head.split(/(?<=\r\n)(?![ \t])/);
  if (fields.length > maxFields) throw invalidHead(`has more than ${maxFields} fields`);
  return {
    source: message,
    fields: fields.map(readField),
    body: message.subarray(Math.min(end + 2, message.length)),
  };
}

/** The position after the last field. */
function findHeadEnd(message: Buffer): number {
  if (message[0] === 13) return 0;
  const end = message.indexOf('\r\n\r\n');
  return end === -1 ? message.length : end + 2;
}

function readField(raw: string, index: number): SubmittedField {
  const [, name, rest] = fieldPattern.exec(raw) ?? [];
  if (name === undefined || rest === undefined)
    throw invalidHead(`has a line that is no field: number ${index + 1}`);
  const bytes = Buffer.from(raw, 'latin1');
  const text = Buffer.from(rest, 'latin1').toString('utf8');
  return { name: name.toLowerCase(), value: text.replaceAll('\r\n', '').trim(), raw: bytes };
}

function invalidHead(reason: string): Fault {
  return new Fault('VALIDATION_FAILED', { details: [{ field: 'header', reason }] });
}

/**
 * The value of a field that can occur only once.
 * @throws Fault VALIDATION_FAILED if it occurs more often, because programs then disagree about which one counts
 */
export function singleField(
  fields: readonly SubmittedField[],
  name: string,
): SubmittedField | undefined {
  const found = fields.filter((field) => field.name === name.toLowerCase());
  if (found.length > 1)
    throw new Fault('VALIDATION_FAILED', {
      details: [{ field: name, reason: 'occurs more than once' }],
    });
  return found[0];
}

/** The text of an unstructured field, with encoded words decoded (RFC 2047). */
export function textOfField(field: SubmittedField): string {
  return decodeWords(field.value);
}
