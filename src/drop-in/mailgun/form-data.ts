import { isUtf8 } from 'node:buffer';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { readParameters } from '../../base/mime/header-fields.ts';
import { readEntity } from '../../base/mime/mime-entity.ts';
import { formatBytes, kibibyte, mebibyte } from '../../host/http/limits/route-limits.ts';
import { unusableBody } from '../../sending/submission/read-body-json.ts';
import type { DropInRequest } from '../provider/drop-in.ts';
import { invalidMember } from '../provider/place.ts';

/** A file of a form. */
export interface FormFile {
  readonly filename: string;
  /** Media type; empty if the form has none. */
  readonly contentType: string;
  /** A view of the body: files aren't copied. */
  readonly content: Buffer;
}

type FormValue = string | FormFile;

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
const wrongType =
  'the Content-Type must be multipart/form-data with a boundary, or application/x-www-form-urlencoded';
const plainEncodings = ['7bit', '8bit', 'binary'];

/** Reads the values of a form within its limits. */
class FormReader {
  /** In order. */
  readonly values: (readonly [name: string, value: FormValue])[] = [];
  #textBytes = 0;
  #headBytes = 0;

  addPart(part: Buffer): void {
    const headLength = part.subarray(0, maxHeadBytes).indexOf('\r\n\r\n');
    if (headLength === -1)
      throw unusableBody('the form has a part without fields, or with too many');
    this.#headBytes += headLength;
    if (this.#headBytes > maxHeadBytes)
      throw unusableBody(`the form has more than ${formatBytes(maxHeadBytes)} of fields of parts`);
    const { fields, body: content, encoding, type } = readEntity(part);
    const { value, params } = readParameters(fields.get('content-disposition') ?? '');
    const [name = ''] = params.get('name') ?? [];
    if (value !== 'form-data' || name === '')
      throw unusableBody('the form has a part without a name');
    if (!plainEncodings.includes(encoding))
      throw unusableBody(`a part of the form can’t have the encoding ${encoding}`);
    const [filename] = params.get('filename') ?? [];
    const contentType = fields.has('content-type') ? type : '';
    if (filename === undefined) this.addText(name, content);
    else this.#add(name, { filename, contentType, content });
  }

  addText(name: string, text: Buffer): void {
    this.#textBytes += text.length;
    if (this.#textBytes > maxFormTextBytes)
      throw unusableBody(`the form has more than ${formatBytes(maxFormTextBytes)} of text`);
    if (!isUtf8(text)) throw unusableBody('the form is not valid UTF-8');
    this.#add(name, text.toString());
  }

  #add(name: string, value: FormValue): void {
    if (this.values.push([name, value]) > maxValues)
      throw unusableBody(`the form has more than ${maxValues} values`);
  }
}

/**
 * Reads a form, as `multipart/form-data` (RFC 7578) or `application/x-www-form-urlencoded`.
 * @throws Fault VALIDATION_FAILED if it isn't one
 */
async function readForm(body: Buffer, contentType: string): Promise<FormReader['values']> {
  const { value: type, params } = readParameters(contentType);
  const form = new FormReader();
  const [boundary = ''] = params.get('boundary') ?? [];
  if (type === 'application/x-www-form-urlencoded') readEncoded(body, form);
  else if (type === 'multipart/form-data' && usableBoundary.test(boundary))
    for await (const part of splitForm(body, boundary)) form.addPart(part);
  else throw unusableBody(wrongType);
  return form.values;
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

function readEncoded(body: Buffer, form: FormReader): void {
  if (body.length > maxFormTextBytes)
    throw unusableBody(`the form is larger than ${formatBytes(maxFormTextBytes)}`);
  const pairs = body.toString().split('&', maxValues + 1);
  if (pairs.length > maxValues) throw unusableBody(`the form has more than ${maxValues} values`);
  for (const [name, value] of pairs.flatMap((pair) => [...new URLSearchParams(pair)])) {
    // What isn't UTF-8 becomes this character.
    if (value.includes('\ufffd')) throw unusableBody('the form is not valid UTF-8');
    form.addText(name, Buffer.from(value));
  }
}

const lists = ['to', 'cc', 'bcc', 'attachment', 'inline', 'o:tag'];
const isChoice = /^(?:o:(?!tag$|deliverytime$)|t:text$)/;

/** Reads a form of Mailgun's as an object, with `h:` and `v:` fields together. @throws Fault VALIDATION_FAILED */
export async function readFormMembers({ body, headers }: DropInRequest): Promise<object> {
  const members = new Map<string, unknown>();
  const seen = new Set<string>();
  for (const [name, given] of await readForm(body, headers['content-type'] ?? '')) {
    const value = typeof given === 'string' && isChoice.test(name) ? given.toLowerCase() : given;
    const [group, rest] = /^[hv]:/.test(name) ? [`${name.slice(0, 2)}*`, name.slice(2)] : [name];
    const known = members.get(group);
    const isList = lists.includes(name);
    if (seen.has(name) && !isList) throw invalidMember(name, 'is given more than once');
    seen.add(name);
    if (isList) members.set(name, [...((known as FormValue[] | undefined) ?? []), value]);
    else members.set(group, rest === undefined ? value : { ...Object(known), [rest]: value });
  }
  return Object.fromEntries(members);
}
