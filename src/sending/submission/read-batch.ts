import { isUtf8 } from 'node:buffer';
import type { FaultDetail } from '../../base/values/errors.ts';
import { maxBatchMessages } from '../../host/http/limits/route-limits.ts';
import { unusableFields } from './describe-body-problems.ts';
import { unusableBody } from './read-body-json.ts';

/** Runs work in a separate event loop turn. */
export type RunInTurn = <Result>(work: () => Result) => Promise<Result>;

const byteOrderMark = Buffer.from('\uFEFF');
/** A millisecond or two of scanning. */
const bytesPerTurn = 64 * 1024;
/** Max bytes of a member name in a response. */
const maxShownName = 300;

/**
 * Validates a batch and splits it into the bytes of its messages.
 * @throws Fault VALIDATION_FAILED if it isn't valid JSON, or not an object with an array `messages` of up to 1,000 entries
 */
export async function readBatch(body: Buffer, runInTurn: RunInTurn): Promise<readonly Buffer[]> {
  // RFC 8259 section 8.1: a byte order mark may be ignored.
  const bytes = body.subarray(0, byteOrderMark.length).equals(byteOrderMark)
    ? body.subarray(byteOrderMark.length)
    : body;
  if (!isUtf8(bytes)) throw unusableBody('the body is not valid UTF-8');
  const scanner = new BatchScanner(bytes, maxBatchMessages);
  while (!(await runInTurn(() => scanner.scan(bytesPerTurn)))) {
    // Another piece is left.
  }
  if (scanner.hasTooMany) throw unusableFields([tooMany]);
  const found = scanner.finish();
  if (found === undefined)
    throw unusableBody(scanner.isEmpty ? 'the body is empty' : 'the body is not valid JSON');
  const details = findProblems(bytes, found);
  if (details.length > 0) throw unusableFields(details);
  return found.ranges.map(([start, end]) => bytes.subarray(start, end));
}

const tooMany: FaultDetail = {
  field: 'messages',
  reason: `must not have more than ${maxBatchMessages} entries; send the rest in another batch`,
};

function findProblems(bytes: Buffer, found: ScannedBatch): FaultDetail[] {
  if (!found.isObject) return [{ field: '', reason: 'must be an object' }];
  const details: FaultDetail[] = [];
  if (found.occurrences === 0) details.push({ field: 'messages', reason: 'is required' });
  else if (found.isOtherValue) details.push({ field: 'messages', reason: 'must be an array' });
  else if (found.occurrences > 1)
    details.push({ field: 'messages', reason: 'must not be repeated' });
  for (const [start, end] of found.otherNames)
    details.push({
      field: readName(bytes.subarray(start, end)),
      reason: 'is not a field of a batch',
    });
  return details;
}

/** @param name with its quotes */
function readName(name: Buffer): string {
  if (name.length > maxShownName) return `${name.toString('utf8', 1, maxShownName)}…`;
  return (JSON.parse(name.toString()) as string).toWellFormed();
}

/** One token of JSON text (RFC 8259) outside of strings; a number can come in pieces. */
const token = /[ \t\r\n]+|["{}[\]:,]|true|false|null|[-+.\deE]+/y;
/** A piece of a string without control characters, or its end. */
const stringPiece = /[ !#-[\]-\xff]+|\\(?:["\\/bfnrt]|u[\da-fA-F]{4})|"/y;
/** No token that can't come in pieces is longer. */
const maxTokenBytes = 8;
const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** What can come next: `item` and `name` only after a comma, `first…` also the end of the container. */
type Expected = 'value' | 'firstItem' | 'firstName' | 'name' | 'colon' | 'end';

/** Depth of an item: in the array `messages`, which is in the root object. */
const itemDepth = 2;

/** The members of a body's root object, found by `BatchScanner`. */
export interface ScannedBatch {
  /** False if the root is another value than an object. */
  readonly isObject: boolean;
  /** How often `messages` occurs. */
  readonly occurrences: number;
  /** True if `messages` is another value than an array. */
  readonly isOtherValue: boolean;
  /** Start and end of each item of `messages`, without surrounding whitespace. */
  readonly ranges: readonly (readonly [start: number, end: number])[];
  /** Start and end of the first other member names, quotes included. */
  readonly otherNames: readonly (readonly [start: number, end: number])[];
}

/** Further names are not kept. */
const maxOtherNames = 100;

/**
 * Validates a body as `JSON.parse` would and finds the items of its member `messages`, in pieces of limited length: parsing
 * 10 MiB at once would take a tenth of a second and, for some bodies, hundreds of megabytes. The bytes must be UTF-8.
 */
export class BatchScanner {
  readonly #bytes: Buffer;
  readonly #maxItems: number;
  readonly #ranges: [number, number][] = [];
  readonly #otherNames: [number, number][] = [];
  /** A bit for each open container: 1 for an object. */
  readonly #containers: Uint8Array;
  #at = 0;
  #depth = 0;
  #expected: Expected = 'value';
  #isInvalid = false;
  /** Where the string begins that is being read, and whether it is the name of a member. */
  #string: { readonly start: number; readonly isName: boolean } | undefined;
  /** The number before `#at`, which can continue there. */
  #number: { readonly start: number; end: number } | undefined;
  #isEmpty = true;
  #isObject = false;
  #isMessages = false;
  #inMessages = false;
  #occurrences = 0;
  #isOtherValue = false;

  /** @param maxItems scanning stops after one more */
  constructor(bytes: Buffer, maxItems: number) {
    this.#bytes = bytes;
    this.#maxItems = maxItems;
    this.#containers = new Uint8Array((bytes.length >> 3) + 2);
  }

  /** True if only whitespace was found. */
  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  /** True if `messages` has too many items; the rest isn't scanned. */
  get hasTooMany(): boolean {
    return this.#ranges.length > this.#maxItems;
  }

  /** What was found once all is scanned; undefined if the text isn't valid JSON. */
  finish(): ScannedBatch | undefined {
    this.#endNumber();
    if (this.#isInvalid || this.#depth > 0 || this.#expected !== 'end') return undefined;
    return {
      isObject: this.#isObject,
      occurrences: this.#occurrences,
      isOtherValue: this.#isOtherValue,
      ranges: this.#ranges,
      otherNames: this.#otherNames,
    };
  }

  /**
   * Scans the next bytes.
   * @returns true once nothing is left to scan
   */
  scan(maxBytes: number): boolean {
    const base = this.#at;
    const end = Math.min(this.#bytes.length, base + maxBytes);
    const text = this.#bytes.toString('latin1', base, end + maxTokenBytes);
    while (this.#at < end) {
      const pattern = this.#string === undefined ? token : stringPiece;
      const start = this.#at - base;
      pattern.lastIndex = start;
      this.#isInvalid = !pattern.test(text);
      const first = text.charAt(start);
      this.#isEmpty &&= !this.#isInvalid && first <= ' ';
      if (this.#isInvalid) return true;
      this.#at = base + pattern.lastIndex;
      if (this.#string === undefined) this.#take(first, base + start);
      else if (first === '"') this.#endString(this.#string);
      if (this.#isInvalid || this.hasTooMany) return true;
    }
    return end === this.#bytes.length;
  }

  /** Takes a token that is not in a string. */
  #take(first: string, start: number): void {
    if (this.#number !== undefined && !this.#continuesNumber(first, start)) this.#endNumber();
    if (first <= ' ') return;
    switch (first) {
      case '"':
        this.#beginString(start);
        return;
      case '{':
      case '[':
        this.#open(first === '{', start);
        return;
      case '}':
      case ']':
        this.#close(first === '}');
        return;
      case ':':
        this.#require(this.#expected === 'colon');
        this.#expected = 'value';
        return;
      case ',':
        this.#require(this.#expected === 'end' && this.#depth > 0);
        this.#expected = this.#isInObject() ? 'name' : 'value';
        return;
      default:
        if (this.#number !== undefined) this.#number.end = this.#at;
        else {
          this.#beginValue(first, start);
          if (!/[tfn]/.test(first)) this.#number = { start, end: this.#at };
        }
        this.#endValue();
    }
  }

  #require(isValid: boolean): void {
    if (!isValid) this.#isInvalid = true;
  }

  #continuesNumber(first: string, start: number): boolean {
    return this.#number?.end === start && /[-+.\deE]/.test(first);
  }

  #endNumber(): void {
    if (this.#number === undefined) return;
    const { start, end } = this.#number;
    this.#require(number.test(this.#bytes.toString('latin1', start, end)));
    this.#number = undefined;
  }

  #beginValue(first: string, start: number): void {
    this.#require(this.#expected === 'value' || this.#expected === 'firstItem');
    if (this.#depth === 0) this.#isObject = first === '{';
    else if (this.#depth === itemDepth && this.#inMessages) this.#ranges.push([start, start]);
    else if (this.#depth < itemDepth && this.#isObject && this.#isMessages) {
      this.#occurrences += 1;
      this.#inMessages = first === '[';
      if (!this.#inMessages) this.#isOtherValue = true;
    }
  }

  #endValue(): void {
    this.#expected = 'end';
    if (this.#depth === itemDepth && this.#inMessages) {
      const range = this.#ranges.at(-1);
      if (range !== undefined) range[1] = this.#at;
    } else if (this.#depth < itemDepth) this.#inMessages = false;
  }

  #beginString(start: number): void {
    const isName = this.#expected === 'name' || this.#expected === 'firstName';
    if (!isName) this.#beginValue('"', start);
    this.#string = { start, isName };
  }

  #endString({ start, isName }: { readonly start: number; readonly isName: boolean }): void {
    this.#string = undefined;
    if (!isName) {
      this.#endValue();
      return;
    }
    this.#expected = 'colon';
    if (this.#depth > 1) return;
    this.#isMessages = isMessagesName(this.#bytes.subarray(start, this.#at));
    if (!this.#isMessages && this.#otherNames.length < maxOtherNames)
      this.#otherNames.push([start, this.#at]);
  }

  #open(isObject: boolean, start: number): void {
    this.#beginValue(isObject ? '{' : '[', start);
    this.#depth += 1;
    const index = this.#depth >> 3;
    const bit = 1 << (this.#depth & 7);
    const bits = this.#containers[index] as number;
    this.#containers[index] = isObject ? bits | bit : bits & ~bit;
    this.#expected = isObject ? 'firstName' : 'firstItem';
  }

  #isInObject(): boolean {
    return ((this.#containers[this.#depth >> 3] as number) & (1 << (this.#depth & 7))) !== 0;
  }

  #close(isObject: boolean): void {
    const canBeEmpty = this.#expected === (isObject ? 'firstName' : 'firstItem');
    this.#require(canBeEmpty || this.#expected === 'end');
    this.#require(this.#depth > 0 && this.#isInObject() === isObject);
    if (this.#isInvalid) return;
    this.#depth -= 1;
    this.#endValue();
  }
}

/** Each character of a name can be written as an escape of six bytes. */
const maxNameBytes = 2 + 6 * 'messages'.length;

/** @param name with its quotes */
function isMessagesName(name: Buffer): boolean {
  return name.length <= maxNameBytes && JSON.parse(name.toString()) === 'messages';
}
