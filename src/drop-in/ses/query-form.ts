import { isUtf8 } from 'node:buffer';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Fault } from '../../base/values/errors.ts';
import { formatBytes, sendBodyBytes } from '../../host/http/limits/route-limits.ts';
import { unusableBody } from '../../sending/submission/read-body-json.ts';

/** Of a form; a message with 50 recipients and 50 tags has 200. */
const maxParameters = 1_000;
/** Of a list; Amazon's longest has 50. */
const maxListItems = 200;
const maxDepth = 8;
/** Bytes decoded per turn of the event loop. */
const turnBytes = 512 * 1_024;

/** A value of a form: text, the bytes of one that is longer than a send body, a list, or an object without a prototype. */
export type FormValue =
  | string
  | Buffer
  | readonly FormValue[]
  | { readonly [name: string]: FormValue };

type Branch = Map<string, string | Buffer | Branch>;

const listPlace = /^[1-9]\d{0,3}$/;

const ampersand = 0x26;
const equalSign = 0x3d;

/**
 * Reads the body of a call of Amazon's query protocol: a form whose names are paths, such as `Destination.ToAddresses.member.1`.
 * @throws Fault VALIDATION_FAILED if it isn't such a form
 */
export async function readQueryForm(body: Buffer): Promise<Readonly<Record<string, FormValue>>> {
  const root: Branch = new Map();
  let count = 0;
  let textBytes = 0;
  for (let start = 0; start < body.length; ) {
    const found = body.indexOf(ampersand, start);
    const end = found === -1 ? body.length : found;
    const pair = body.subarray(start, end);
    start = end + 1;
    if (pair.length === 0) continue;
    count += 1;
    if (count > maxParameters) throw unusableBody(`the form has more than ${maxParameters} values`);
    const equal = pair.indexOf(equalSign);
    const name = equal === -1 ? pair : pair.subarray(0, equal);
    if (name.length > 1_000) throw unusableBody('a name of the form is longer than 1000 bytes');
    const value = equal === -1 ? Buffer.alloc(0) : await decodePercent(pair.subarray(equal + 1));
    const isLong = value.length > sendBodyBytes;
    textBytes += isLong ? 0 : value.length;
    if (textBytes > sendBodyBytes)
      throw unusableBody(
        `the form is larger than ${formatBytes(sendBodyBytes)} beside its longest value`,
      );
    put(root, textOf(await decodePercent(name)), isLong ? value : textOf(value));
  }
  return toObject(root);
}

function put(root: Branch, name: string, value: string | Buffer): void {
  const path = name.split('.');
  const last = path.pop() ?? '';
  if (path.length > maxDepth || name === '') throw misnamed(name);
  let branch = root;
  for (const part of path) {
    const next = branch.get(part) ?? new Map();
    if (!(next instanceof Map)) throw misnamed(name);
    branch.set(part, next);
    branch = next;
  }
  if (branch.has(last)) throw misnamed(name);
  branch.set(last, value);
}

function misnamed(name: string): Fault {
  const shown = JSON.stringify(name.slice(0, 100));
  return unusableBody(`the form has ${shown} twice, or as a value and an object`);
}

/** An object without a prototype, because callers choose the names. */
function toObject(branch: Branch): Readonly<Record<string, FormValue>> {
  const values: Record<string, FormValue> = Object.create(null);
  for (const [name, value] of branch) values[name] = value instanceof Map ? toValue(value) : value;
  return values;
}

/** `member` with numbers makes a list. */
function toValue(branch: Branch): FormValue {
  const items = branch.size === 1 ? branch.get('member') : undefined;
  if (!(items instanceof Map)) return toObject(branch);
  const places = [...items.keys()];
  if (places.some((place) => !listPlace.test(place))) return toObject(branch);
  if (places.length > maxListItems)
    throw unusableBody(`a list has more than ${maxListItems} items`);
  const values = toObject(items);
  return places.sort((a, b) => Number(a) - Number(b)).map((place) => values[place] ?? '');
}

function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw unusableBody('the form is not valid UTF-8');
  return bytes.toString();
}

const percent = 0x25;
const plus = 0x2b;
const space = 0x20;
const hexDigits: Readonly<Record<number, number>> = Object.fromEntries(
  [...'0123456789abcdef', ...'ABCDEF'].map((digit) => [
    digit.charCodeAt(0),
    Number.parseInt(digit, 16),
  ]),
);

/** Decodes a name or value of a form, in pieces with other work between them. A percent sign without digits stays. */
async function decodePercent(bytes: Buffer): Promise<Buffer> {
  if (!bytes.includes(percent) && !bytes.includes(plus)) return bytes;
  const decoded = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  let turn = turnBytes;
  for (let at = 0; at < bytes.length; at += 1) {
    if (at >= turn) {
      turn += turnBytes;
      await nextTurn();
    }
    const byte = bytes[at];
    const escaped =
      byte === percent ? digitOf(bytes[at + 1]) * 16 + digitOf(bytes[at + 2]) : Number.NaN;
    if (!Number.isNaN(escaped)) at += 2;
    decoded[length] = Number.isNaN(escaped) ? (byte === plus ? space : (byte ?? 0)) : escaped;
    length += 1;
  }
  return decoded.subarray(0, length);
}

/** Of a hexadecimal digit; NaN for anything else. */
function digitOf(digit: number | undefined): number {
  return digit === undefined ? Number.NaN : (hexDigits[digit] ?? Number.NaN);
}
