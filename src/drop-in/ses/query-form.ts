import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Fault } from '../../base/values/errors.ts';
import { formatBytes, sendBodyBytes } from '../../host/http/limits/route-limits.ts';
import { unusableBody } from '../../sending/submission/read-body-json.ts';

/** Of a form; a message with 50 recipients and 50 tags has 200. */
const maxParameters = 1_000;
/** Of a list; Amazon's longest has 50. */
const maxListItems = 200;
const maxDepth = 8;
const maxNameLength = 200;
const tooLarge = `the form is larger than ${formatBytes(sendBodyBytes)} beside its message`;
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

/**
 * Reads the body of a call of Amazon's query protocol: a form whose names are paths, such as `Destination.ToAddresses.member.1`.
 * @throws Fault VALIDATION_FAILED if it isn't such a form
 */
export async function readQueryForm(body: Buffer): Promise<Readonly<Record<string, FormValue>>> {
  const root: Branch = new Map();
  const short: string[] = [];
  let shortBytes = 0;
  for (let start = 0, end = 0; start < body.length; start = end + 1) {
    const found = body.indexOf('&', start);
    end = found === -1 ? body.length : found;
    const pair = body.subarray(start, end);
    if (pair.length <= sendBodyBytes) {
      short.push(pair.toString());
      shortBytes += pair.length + 1;
      if (shortBytes > sendBodyBytes + 1) throw unusableBody(tooLarge);
    } else {
      const equal = Math.min(Math.max(pair.indexOf('='), 0), maxNameLength + 1);
      put(root, pair.toString('latin1', 0, equal), await decodeLongValue(pair.subarray(equal + 1)));
    }
  }
  const pairs = [...new URLSearchParams(short.join('&'))];
  if (pairs.length > maxParameters)
    throw unusableBody(`the form has more than ${maxParameters} values`);
  for (const [name, value] of pairs) {
    if (value.includes('\ufffd')) throw unusableBody('the form is not valid UTF-8');
    put(root, name, value);
  }
  return toObject(root);
}

function put(root: Branch, name: string, value: string | Buffer): void {
  const path = name.split('.');
  const last = path.pop() ?? '';
  if (path.length > maxDepth || name.length > maxNameLength || name === '') throw misnamed(name);
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

/** The escapes of base64. */
const escapes = /%(?:2B|2F|3D)/gi;

/** Decodes a long value, which can only be base64, in pieces with other work between them. */
async function decodeLongValue(value: Buffer): Promise<Buffer> {
  const pieces: string[] = [];
  for (let start = 0; start < value.length; ) {
    const cut = value.subarray(0, start + turnBytes).lastIndexOf('%');
    // An escape that the piece would split is in the next one.
    const end = cut > start + turnBytes - 3 && cut > start ? cut : start + turnBytes;
    pieces.push(value.toString('latin1', start, end).replaceAll(escapes, decodeURIComponent));
    start = end;
    await nextTurn();
  }
  return Buffer.from(pieces.join(''), 'latin1');
}
