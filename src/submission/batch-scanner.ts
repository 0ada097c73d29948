/** Where the next byte of JSON text (RFC 8259) belongs. Constants, because they are compared for every byte. */
const beforeValue = 0;
/** After `[`: a value or the end of the array. */
const beforeFirstItem = 1;
/** After `{`: a name or the end of the object. */
const beforeFirstName = 2;
const beforeName = 3;
const beforeColon = 4;
const afterValue = 5;
const inString = 6;
const afterBackslash = 7;
const inUnicodeEscape = 8;
const inLiteral = 9;
const afterMinus = 10;
/** The states from here on are in a number; those that can end it are `canEndNumber`. */
const afterZero = 11;
const inInteger = 12;
const afterPoint = 13;
const inFraction = 14;
const afterExponent = 15;
const afterExponentSign = 16;
const inExponent = 17;
const invalid = 18;

type State = number;

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const comma = 0x2c;
const colon = 0x3a;
const minus = 0x2d;
const plus = 0x2b;
const point = 0x2e;
const zero = 0x30;
const nine = 0x39;

const escapable: ReadonlySet<number> = new Set(Buffer.from('"\\/bfnrt'));
const literals: ReadonlyMap<number, Buffer> = new Map(
  ['true', 'false', 'null'].map((text) => [text.charCodeAt(0), Buffer.from(text)]),
);
const noLiteral: Buffer = Buffer.alloc(0);

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
  #state: State = beforeValue;
  #isName = false;
  #hexDigits = 0;
  #literal = noLiteral;
  #literalAt = 0;
  #tokenStart = 0;
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
    if (canEndNumber(this.#state)) this.#endValue(this.#at);
    if (this.#depth > 0 || this.#state !== afterValue) return undefined;
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
    const bytes = this.#bytes;
    const end = Math.min(bytes.length, this.#at + maxBytes);
    while (this.#at < end) {
      if (this.#state === inString) this.#skipString(end);
      else this.#take(bytes[this.#at] as number);
      if (this.#state === invalid || this.hasTooMany) return true;
    }
    return end === bytes.length;
  }

  #skipString(end: number): void {
    const bytes = this.#bytes;
    let at = this.#at;
    let byte = 0;
    while (at < end) {
      byte = bytes[at] as number;
      if (byte === quote || byte === backslash || byte < 0x20) break;
      at += 1;
    }
    this.#at = at;
    if (at === end) return;
    this.#at += 1;
    if (byte === backslash) this.#state = afterBackslash;
    else if (byte !== quote) this.#state = invalid;
    else if (this.#isName) this.#endName();
    else this.#endValue(this.#at);
  }

  /** Takes one byte outside of strings. */
  #take(byte: number): void {
    if (this.#state >= afterZero && !this.#continueNumber(byte)) return;
    this.#at += 1;
    switch (this.#state) {
      case beforeValue:
      case beforeFirstItem:
        if (isWhitespace(byte)) return;
        if (byte === closeBracket && this.#state === beforeFirstItem) this.#close(false);
        else this.#beginValue(byte);
        return;
      case beforeFirstName:
      case beforeName:
        if (isWhitespace(byte)) return;
        if (byte === closeBrace && this.#state === beforeFirstName) this.#close(true);
        else if (byte === quote) this.#beginString(true);
        else this.#state = invalid;
        return;
      case beforeColon:
        if (byte === colon) this.#state = beforeValue;
        else if (!isWhitespace(byte)) this.#state = invalid;
        return;
      case afterValue:
        if (!isWhitespace(byte)) this.#continueContainer(byte);
        return;
      case afterBackslash:
        if (byte === 0x75) {
          this.#state = inUnicodeEscape;
          this.#hexDigits = 0;
        } else this.#state = escapable.has(byte) ? inString : invalid;
        return;
      case inUnicodeEscape:
        this.#hexDigits += 1;
        if (!isHexDigit(byte)) this.#state = invalid;
        else if (this.#hexDigits === 4) this.#state = inString;
        return;
      case inLiteral:
        if (byte !== this.#literal[this.#literalAt]) this.#state = invalid;
        this.#literalAt += 1;
        if (this.#literalAt === this.#literal.length && this.#state !== invalid)
          this.#endValue(this.#at);
        return;
      case afterMinus:
        this.#beginInteger(byte);
        return;
      default:
        return;
    }
  }

  /** @returns false if the byte comes after the number, which then has ended */
  #continueNumber(byte: number): boolean {
    const state = this.#state;
    const next = nextInNumber(state, byte);
    if (next !== invalid) this.#state = next;
    else if (canEndNumber(state)) {
      this.#endValue(this.#at);
      return false;
    } else this.#state = invalid;
    return true;
  }

  #beginValue(byte: number): void {
    this.#isEmpty = false;
    this.#tokenStart = this.#at - 1;
    if (this.#depth < itemDepth) this.#notePlace(byte);
    else if (this.#depth === itemDepth && this.#inMessages)
      this.#ranges.push([this.#tokenStart, this.#tokenStart]);
    if (byte === quote) this.#beginString(false);
    else if (byte === openBrace) this.#open(true);
    else if (byte === openBracket) this.#open(false);
    else if (byte === minus) this.#state = afterMinus;
    else if (byte >= zero && byte <= nine) this.#beginInteger(byte);
    else {
      this.#literal = literals.get(byte) ?? noLiteral;
      this.#literalAt = 1;
      this.#state = this.#literal.length === 0 ? invalid : inLiteral;
    }
  }

  /** A value at the root, or of a member of the root. */
  #notePlace(byte: number): void {
    if (this.#depth === 0) this.#isObject = byte === openBrace;
    else if (this.#isObject && this.#isMessages) {
      this.#occurrences += 1;
      this.#inMessages = byte === openBracket;
      if (!this.#inMessages) this.#isOtherValue = true;
    }
  }

  #beginInteger(byte: number): void {
    if (byte === zero) this.#state = afterZero;
    else this.#state = byte > zero && byte <= nine ? inInteger : invalid;
  }

  #beginString(isName: boolean): void {
    this.#isName = isName;
    this.#state = inString;
    this.#tokenStart = this.#at - 1;
  }

  #endName(): void {
    this.#state = beforeColon;
    if (this.#depth > 1) return;
    const start = this.#tokenStart;
    this.#isMessages = isMessagesName(this.#bytes.subarray(start, this.#at));
    if (!this.#isMessages && this.#otherNames.length < maxOtherNames)
      this.#otherNames.push([start, this.#at]);
  }

  #open(isObject: boolean): void {
    this.#depth += 1;
    const index = this.#depth >> 3;
    const bit = 1 << (this.#depth & 7);
    const bits = this.#containers[index] as number;
    this.#containers[index] = isObject ? bits | bit : bits & ~bit;
    this.#state = isObject ? beforeFirstName : beforeFirstItem;
  }

  #isInObject(): boolean {
    return ((this.#containers[this.#depth >> 3] as number) & (1 << (this.#depth & 7))) !== 0;
  }

  #close(isObject: boolean): void {
    if (this.#depth === 0 || this.#isInObject() !== isObject) {
      this.#state = invalid;
      return;
    }
    this.#depth -= 1;
    this.#endValue(this.#at);
  }

  #continueContainer(byte: number): void {
    if (byte === comma && this.#depth > 0)
      this.#state = this.#isInObject() ? beforeName : beforeValue;
    else if (byte === closeBrace) this.#close(true);
    else if (byte === closeBracket) this.#close(false);
    else this.#state = invalid;
  }

  #endValue(end: number): void {
    this.#state = afterValue;
    if (this.#depth === itemDepth && this.#inMessages) {
      const range = this.#ranges[this.#ranges.length - 1];
      if (range !== undefined) range[1] = end;
    } else if (this.#depth < itemDepth) this.#inMessages = false;
  }
}

function isWhitespace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function isDigit(byte: number): boolean {
  return byte >= zero && byte <= nine;
}

function isHexDigit(byte: number): boolean {
  const lower = byte | 0x20;
  return isDigit(byte) || (lower >= 0x61 && lower <= 0x66);
}

function canEndNumber(state: State): boolean {
  return state === afterZero || state === inInteger || state === inFraction || state === inExponent;
}

/** The state after a byte of a number; `invalid` if it doesn't belong to the number. */
function nextInNumber(state: State, byte: number): State {
  if (isDigit(byte)) {
    if (state === afterZero) return invalid;
    if (state === afterPoint) return inFraction;
    return state === afterExponent || state === afterExponentSign ? inExponent : state;
  }
  if (byte === point) return state === afterZero || state === inInteger ? afterPoint : invalid;
  if ((byte | 0x20) === 0x65)
    return canEndNumber(state) && state !== inExponent ? afterExponent : invalid;
  const isSign = byte === plus || byte === minus;
  return isSign && state === afterExponent ? afterExponentSign : invalid;
}

/** Each character of a name can be written as an escape of six bytes. */
const maxNameBytes = 2 + 6 * 'messages'.length;

/** @param name with its quotes */
function isMessagesName(name: Buffer): boolean {
  return name.length <= maxNameBytes && JSON.parse(name.toString()) === 'messages';
}
