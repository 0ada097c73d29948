import { decodeWords } from '../../base/mime/decode.ts';
import type { HeaderField } from '../../base/mime/header-fields.ts';
import { readEntity } from '../../base/mime/mime-entity.ts';
import { unusableField } from '../submission/describe-body-problems.ts';

export interface SubmittedMessage {
  /** All of it. */
  readonly source: Buffer;
  readonly fields: readonly HeaderField[];
  readonly body: Buffer;
}

/** Far more than any client writes. */
const maxHeadBytes = 128 * 1_024;
const maxFields = 500;

/**
 * Splits a message into header fields and body (RFC 5322 section 2.1).
 * @param message with CRLF line ends
 * @throws Fault VALIDATION_FAILED for a line that is no header field, or too large a head
 */
export function readMessageHead(message: Buffer): SubmittedMessage {
  const { head, fields, body } = readEntity(message);
  if (head.length === 0 || head.length > maxHeadBytes)
    throw unusableField('header', `is empty or larger than ${maxHeadBytes} bytes`);
  if (fields.all.length > maxFields)
    throw unusableField('header', `has more than ${maxFields} fields`);
  const invalid = fields.all.findIndex(({ name }) => name === '');
  if (invalid !== -1)
    throw unusableField('header', `has a line that is no field: number ${invalid + 1}`);
  return { source: message, fields: fields.all, body };
}

/**
 * The value of a field that can occur only once.
 * @throws Fault VALIDATION_FAILED if it occurs more often, because programs then disagree about which one counts
 */
export function singleField(fields: readonly HeaderField[], name: string): HeaderField | undefined {
  const found = fields.filter((field) => field.name === name.toLowerCase());
  if (found.length > 1) throw unusableField(name, 'occurs more than once');
  return found[0];
}

/** The text of an unstructured field, with encoded words decoded (RFC 2047). */
export function textOfField(field: HeaderField): string {
  return decodeWords(field.value);
}
