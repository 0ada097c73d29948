/**
 * Writes quoted-printable (RFC 2045 section 6.7) piece by piece: a template's static text is encoded once per version, and
 * each message only adds its values in between. A writer tracks its column and inserts a soft line break if the next
 * piece would make a line too long.
 */

// RFC 2045 section 6.7 rule 5: at most 76 characters per line, including the `=` of a soft break.
const MAX_LINE = 76;
/** Characters that fit in a line before the `=` of a soft break. */
const MAX_BEFORE_BREAK = MAX_LINE - 1;
const SOFT_BREAK = '=\r\n';
/** Printable ASCII without `=`, for which only the line length matters. */
const LITERAL = /^[ -<>-~]*$/;

const LF = 10;
const SPACE = 32;
const TAB = 9;
const EQUALS = 61;

/**
 * The encoding of each octet within a line (rules 1, 2 and 3; `ESCAPED` also encodes white space at the end of a
 * line).
 */
const ESCAPED: readonly string[] = Array.from(
  { length: 256 },
  (_, octet) => `=${octet.toString(16).toUpperCase().padStart(2, '0')}`,
);
const WRITTEN: readonly string[] = ESCAPED.map((escaped, octet) => {
  const literal = octet === TAB || (octet >= SPACE && octet <= 126 && octet !== EQUALS);
  return literal ? String.fromCharCode(octet) : escaped;
});

/** Encoded text that can be inserted anywhere in a body. */
export interface EncodedText {
  readonly encoded: string;
  /** Length of its first line, which must fit in the current line. */
  readonly firstLine: number;
  /** Length of its last line, or -1 if it has no line break. */
  readonly lastLine: number;
  /** Trailing white space, not included in `encoded`: what follows decides how to encode it. */
  readonly space: '' | ' ' | '\t';
  /** Octets before encoding. */
  readonly octets: number;
}

/** Encodes text with line feeds, as if at the start of a line. */
export function encodeText(text: string): EncodedText {
  const writer = new QuotedPrintableWriter();
  writer.addText(text);
  const { encoded, space, octets } = writer;
  const firstBreak = encoded.indexOf('\r\n');
  if (firstBreak === -1) return { encoded, firstLine: encoded.length, lastLine: -1, space, octets };
  const lastLine = encoded.length - encoded.lastIndexOf('\r\n') - 2;
  return { encoded, firstLine: firstBreak, lastLine, space, octets };
}

function spaceAtEnd(text: string): '' | ' ' | '\t' {
  if (text.endsWith(' ')) return ' ';
  return text.endsWith('\t') ? '\t' : '';
}

export class QuotedPrintableWriter {
  /** Everything added so far, except `space`. */
  encoded = '';
  /** Trailing white space not written yet: at the end of a line it must be escaped (rule 3). */
  space: '' | ' ' | '\t' = '';
  /** Octets before encoding. */
  octets = 0;
  #column = 0;

  /** Returns the encoded text, which may end a line. */
  finish(): string {
    this.#writeSpace(true);
    return this.encoded;
  }

  /** Adds text that is encoded already. */
  addEncoded({ encoded, firstLine, lastLine, space, octets }: EncodedText): void {
    if (encoded === '' && space === '') return;
    this.#writeSpace(lastLine !== -1 && firstLine === 0);
    // A first line that ends in a soft break may be full; otherwise it must leave space for one.
    if (
      this.#column > 0 &&
      this.#column + firstLine > (lastLine === -1 ? MAX_BEFORE_BREAK : MAX_LINE)
    ) {
      this.#softBreak();
    }
    this.encoded += encoded;
    this.octets += octets;
    this.#column = lastLine === -1 ? this.#column + firstLine : lastLine;
    this.space = space;
  }

  /** Adds text with line feeds. */
  addText(text: string): void {
    if (text === '') return;
    this.#writeSpace(text.charCodeAt(0) === LF);
    const space = spaceAtEnd(text);
    this.octets += space.length;
    this.#addUnspaced(space === '' ? text : text.slice(0, -1));
    this.space = space;
  }

  #addUnspaced(text: string): void {
    if (LITERAL.test(text)) this.#addLiteral(text);
    else this.#addOctets(Buffer.from(text, 'utf8'));
  }

  #addLiteral(text: string): void {
    this.octets += text.length;
    let from = 0;
    while (text.length - from > MAX_BEFORE_BREAK - this.#column) {
      const capacity = MAX_BEFORE_BREAK - this.#column;
      this.encoded += text.slice(from, from + capacity);
      from += capacity;
      this.#softBreak();
    }
    this.encoded += text.slice(from);
    this.#column += text.length - from;
  }

  #addOctets(octets: Uint8Array): void {
    this.octets += octets.length;
    const end = octets.length;
    for (let at = 0; at < end; at += 1) {
      const octet = octets[at] ?? 0;
      if (octet === LF) {
        this.encoded += '\r\n';
        this.#column = 0;
        continue;
      }
      const lineEnds = octets[at + 1] === LF;
      const table = lineEnds && (octet === SPACE || octet === TAB) ? ESCAPED : WRITTEN;
      this.#addUnit(table[octet] ?? '');
    }
  }

  #addUnit(unit: string): void {
    if (this.#column + unit.length > MAX_BEFORE_BREAK) this.#softBreak();
    this.encoded += unit;
    this.#column += unit.length;
  }

  /** @param lineEnds a line break or the end of the text follows */
  #writeSpace(lineEnds: boolean): void {
    const space = this.space;
    if (space === '') return;
    this.space = '';
    if (lineEnds) this.#addUnit(space === ' ' ? '=20' : '=09');
    else this.#addUnit(space);
  }

  #softBreak(): void {
    this.encoded += SOFT_BREAK;
    this.#column = 0;
  }
}
