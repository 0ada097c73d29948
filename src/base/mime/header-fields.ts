import { decodeOctets, decodeText } from './decode.ts';

/** A field of a header. */
export interface HeaderField {
  /** In lower case; empty for a line that is no field. */
  readonly name: string;
  /** Unfolded (RFC 5322 section 2.2.3), without surrounding blanks; raw UTF-8 is read (RFC 6532). */
  readonly value: string;
  /** All its lines with their ends, one character per octet. */
  readonly raw: string;
}

/** RFC 5322 section 2.2: printable ASCII except the colon. */
const fieldName = /^([!-9;-~]{1,200})[ \t]*:/;

/** The fields of a header, in order. Names are an outsider's choice, so they are compared and never become properties. */
export class MailFields {
  readonly all: readonly HeaderField[];

  /** @param head lines that end in LF, or in CRLF; an empty one at the end is ignored */
  constructor(head: Buffer) {
    const text = head.toString('latin1').replace(/\r?\n$/, '');
    this.all = text === '' ? [] : text.split(/(?<=\n)(?![ \t])/).map(readField);
  }

  /** The values of the fields with this name, which is in lower case. */
  values(name: string): string[] {
    return this.all.filter((field) => field.name === name).map(({ value }) => value);
  }

  /** The first value; undefined if there is no such field. */
  get(name: string): string | undefined {
    return this.all.find((field) => field.name === name)?.value;
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }
}

function readField(raw: string): HeaderField {
  const start = fieldName.exec(raw);
  if (start === null) return { name: '', value: '', raw };
  return {
    name: (start[1] ?? '').toLowerCase(),
    value: decodeOctets(unfold(raw.slice(start[0].length))),
    raw,
  };
}

/** Removes the line breaks and the blanks around the text. */
function unfold(text: string): string {
  return text.replaceAll('\n', '').replaceAll('\r', '').trim();
}

/** A structured value, such as that of Content-Type (RFC 2045 section 5.1). */
interface StructuredValue {
  /** Before the parameters, in lower case. */
  readonly value: string;
  /** By lower-case name. All values that a mail program could take, the one of RFC 2231 first. */
  readonly params: ReadonlyMap<string, readonly string[]>;
}

/** Characters of a value that are read. */
export const maxStructuredLength = 4_000;
const maxParams = 100;
const maxSections = 100;

interface Section {
  readonly index: number;
  readonly text: string;
  /** In percent encoding. */
  readonly encoded: boolean;
}

/** RFC 2231: `name*`, `name*0`, `name*0*`. */
const extended = /^([^*]+)\*(?:(\d{1,3})(\*)?)?$/;

/** Reads a value with parameters, in one pass. Comments are left out (RFC 822 section 3.4.3); never throws. */
export function readParameters(text: string): StructuredValue {
  const [first, ...rest] = splitAtSemicolons(text.slice(0, maxStructuredLength));
  const plain = new Map<string, string[]>();
  const sections = new Map<string, Section[]>();
  for (const { name, text: value } of rest.slice(0, maxParams)) {
    if (name === undefined) continue;
    const [, base, index, star] = extended.exec(name) ?? [];
    if (base === undefined) append(plain, name, value);
    else
      append(sections, base, {
        index: Number(index ?? 0),
        text: value,
        encoded: index === undefined || star !== undefined,
      });
  }
  const params = new Map<string, readonly string[]>(plain);
  for (const [name, parts] of sections)
    params.set(name, [joinSections(parts), ...(plain.get(name) ?? [])]);
  const whole = first?.name === undefined ? first?.text : `${first.name}=${first.text}`;
  return { value: (whole ?? '').toLowerCase(), params };
}

function append<Value>(map: Map<string, Value[]>, name: string, value: Value): void {
  const values = map.get(name);
  if (values === undefined) map.set(name, [value]);
  else values.push(value);
}

/** Quotes and comments are resolved. The name is in lower case, and undefined without an equals sign. */
interface Piece {
  readonly name: string | undefined;
  readonly text: string;
}

function splitAtSemicolons(text: string): Piece[] {
  const pieces: Piece[] = [];
  let name: string | undefined;
  let value = '';
  let quoted = false;
  let comments = 0;
  const end = (): void => {
    pieces.push({ name, text: value.trim() });
    name = undefined;
    value = '';
  };
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    const escaped = character === '\\' && (quoted || comments > 0);
    if (escaped) {
      at += 1;
      if (comments === 0) value += text.charAt(at);
    } else if (comments > 0) {
      if (character === '(') comments += 1;
      else if (character === ')') comments -= 1;
    } else if (character === '"') quoted = !quoted;
    else if (quoted) value += character;
    else if (character === '(') comments = 1;
    else if (character === ';') end();
    else if (character === '=' && name === undefined) {
      name = value.trim().toLowerCase();
      value = '';
    } else value += character;
  }
  end();
  return pieces;
}

/** RFC 2231 sections 3 and 4. */
function joinSections(parts: readonly Section[]): string {
  const sorted = parts.toSorted((one, other) => one.index - other.index).slice(0, maxSections);
  const [, charset, start] = /^([^']*)'[^']*'(.*)$/s.exec(sorted[0]?.text ?? '') ?? [];
  const isEncoded = sorted[0]?.encoded === true && start !== undefined;
  const texts = sorted.map(({ text, encoded }, place) => {
    const own = place === 0 && isEncoded ? start : text;
    return encoded ? fromPercent(own) : Buffer.from(own);
  });
  return decodeText(Buffer.concat(texts), isEncoded ? charset : 'utf-8');
}

function fromPercent(text: string): Buffer {
  const bytes = Buffer.from(text);
  const decoded = bytes
    .toString('latin1')
    .replace(/%([0-9A-F]{2})/gi, (_all, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  return Buffer.from(decoded, 'latin1');
}
