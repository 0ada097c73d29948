import { isUtf8 } from 'node:buffer';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { readParameters } from '../../base/mime/header-fields.ts';
import { readEntity } from '../../base/mime/mime-entity.ts';
import { formatBytes, kibibyte, mebibyte } from '../../host/http/limits/route-limits.ts';
import { unusableBody } from '../../sending/submission/read-body-json.ts';

/** A file of a form. */
export interface FormFile {
  readonly filename: string;
  /** Media type; empty if the form has none. */
  readonly contentType: string;
  /** A view of the body: files aren't copied. */
  readonly content: Buffer;
}

/** The values of a form by name, in order. */
export type SubmittedForm = ReadonlyMap<string, readonly (string | FormFile)[]>;

/** Of a form; a message to 1,000 recipients, each in a field of their own, has more than a thousand. */
const maxValues = 1_200;
/** Of all fields that aren't files. */
export const maxFormTextBytes = mebibyte;
/** Of the fields of all parts. */
const maxHeadBytes = 256 * kibibyte;
/** Bytes searched per turn of the event loop. */
const turnBytes = mebibyte;
/** RFC 2046 section 5.1.1 allows 70 characters. */
const usableBoundary = /^[ -~]{1,200}$/;

/**
 * Reads a form, as `multipart/form-data` (RFC 7578) or `application/x-www-form-urlencoded`.
 * @throws Fault VALIDATION_FAILED if it isn't one
 */
export async function readForm(body: Buffer, contentType = ''): Promise<SubmittedForm> {
  const { value: type, params } = readParameters(contentType);
  if (type === 'application/x-www-form-urlencoded') return readEncoded(body);
  const [boundary = ''] = params.get('boundary') ?? [];
  if (type !== 'multipart/form-data' || !usableBoundary.test(boundary))
    throw unusableBody(
      'the Content-Type must be multipart/form-data with a boundary, or application/x-www-form-urlencoded',
    );
  const form = new FormBuilder();
  for await (const part of splitForm(body, boundary)) readPart(part, form);
  return form.values;
}

class FormBuilder {
  readonly values = new Map<string, (string | FormFile)[]>();
  #count = 0;
  #textBytes = 0;
  #headBytes = 0;

  addHead(bytes: number): void {
    this.#headBytes += bytes;
    if (this.#headBytes > maxHeadBytes)
      throw unusableBody(`the form has more than ${formatBytes(maxHeadBytes)} of fields of parts`);
  }

  add(name: string, value: FormFile | Buffer): void {
    this.#count += 1;
    if (this.#count > maxValues) throw unusableBody(`the form has more than ${maxValues} values`);
    const values = this.values.get(name) ?? [];
    this.values.set(name, values);
    if (!Buffer.isBuffer(value)) {
      values.push(value);
      return;
    }
    this.#textBytes += value.length;
    if (this.#textBytes > maxFormTextBytes)
      throw unusableBody(`the form has more than ${formatBytes(maxFormTextBytes)} of text`);
    if (!isUtf8(value)) throw unusableBody('the form is not valid UTF-8');
    values.push(value.toString());
  }
}

/** The parts between the delimiters. A native search finds these, in pieces with other work between them. */
async function* splitForm(body: Buffer, boundary: string): AsyncGenerator<Buffer> {
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  const first = delimiter.subarray(2);
  let at = first.length;
  if (!body.subarray(0, at).equals(first))
    throw unusableBody('the form doesn’t begin with its boundary');
  while (body.toString('latin1', at, at + 2) !== '--') {
    const end = await findDelimiter(body, delimiter, at);
    if (end === -1 || body.toString('latin1', at, at + 2) !== '\r\n')
      throw unusableBody('the form has no end');
    yield body.subarray(at + 2, Math.max(at + 2, end));
    at = end + delimiter.length;
  }
}

async function findDelimiter(body: Buffer, delimiter: Buffer, from: number): Promise<number> {
  for (let start = from; start < body.length; start += turnBytes) {
    if (start > from) await nextTurn();
    const piece = body.subarray(start, start + turnBytes + delimiter.length - 1);
    const found = piece.indexOf(delimiter);
    if (found !== -1) return start + found;
  }
  return -1;
}

const plainEncodings = ['7bit', '8bit', 'binary'];

function readPart(part: Buffer, form: FormBuilder): void {
  const headLength = part.subarray(0, maxHeadBytes).indexOf('\r\n\r\n');
  if (headLength === -1) throw unusableBody('the form has a part without fields, or with too many');
  form.addHead(headLength);
  const { fields, body, encoding, type } = readEntity(part);
  const disposition = readParameters(fields.get('content-disposition') ?? '');
  const [name = ''] = disposition.params.get('name') ?? [];
  if (disposition.value !== 'form-data' || name === '')
    throw unusableBody('the form has a part without a name');
  if (!plainEncodings.includes(encoding))
    throw unusableBody(`a part of the form can’t have the encoding ${encoding}`);
  const [filename] = disposition.params.get('filename') ?? [];
  const contentType = fields.has('content-type') ? type : '';
  form.add(name, filename === undefined ? body : { filename, contentType, content: body });
}

function readEncoded(body: Buffer): SubmittedForm {
  if (body.length > maxFormTextBytes)
    throw unusableBody(`the form is larger than ${formatBytes(maxFormTextBytes)}`);
  const form = new FormBuilder();
  let count = 0;
  for (let at = body.indexOf('&'); at !== -1; at = body.indexOf('&', at + 1)) {
    count += 1;
    if (count > maxValues) throw unusableBody(`the form has more than ${maxValues} values`);
  }
  for (const [name, value] of new URLSearchParams(body.toString())) {
    // What isn't UTF-8 becomes this character.
    if (value.includes('\ufffd')) throw unusableBody('the form is not valid UTF-8');
    form.add(name, Buffer.from(value));
  }
  return form.values;
}
