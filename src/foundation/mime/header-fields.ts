import { decodeOctets } from './decode-text.ts';

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
