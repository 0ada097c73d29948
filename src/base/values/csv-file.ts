import { isAscii } from 'node:buffer';

/** The options of csv-parse that read a file. */
export type CsvForm = ReturnType<CsvFormDetector['form']>;

/** Max bytes to search for the header row. */
const headerBytes = 256 * 1024;
/** Invisible characters in text copied from web pages, mail programs and spreadsheets. */
const invisible = /[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g;

/**
 * Detects the form of a CSV file (RFC 4180) from its bytes, added in order. A file that isn't UTF-8 at all is read as
 * windows-1252, as spreadsheets write it. If only some rows are UTF-8, it stays UTF-8; `findUndecoded` finds the others.
 */
export class CsvFormDetector {
  readonly #strict = new TextDecoder('utf-8', { fatal: true });
  readonly #lenient = new TextDecoder();
  #beginning: Buffer = Buffer.alloc(0);
  #isValid = true;
  #hasUtf8 = false;

  add(bytes: Buffer): void {
    const missing = headerBytes - this.#beginning.length;
    if (missing > 0) this.#beginning = Buffer.concat([this.#beginning, bytes.subarray(0, missing)]);
    this.#check(bytes);
    if (this.#hasUtf8 || isAscii(bytes)) return;
    const text = this.#lenient.decode(bytes);
    this.#hasUtf8 = /[^\0-\x7f\ufffd]/.test(text) || bytes.includes('\ufffd');
  }

  /** Call this after adding the whole file. */
  form() {
    this.#check();
    const isUtf16 = this.#beginning.subarray(0, 2).equals(Buffer.of(0xff, 0xfe));
    const isUnicode = isUtf16 || this.#isValid || this.#hasUtf8;
    return {
      bom: true,
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
      trim: true,
      ...findDelimiter(this.#beginning.toString(isUtf16 ? 'utf16le' : 'utf8')),
      ...(!isUnicode && { encoding: 'latin1' as const, cast: decodeWindows1252 }),
    };
  }

  /** @param bytes undefined: the file has ended */
  #check(bytes?: Buffer): void {
    if (!this.#isValid) return;
    try {
      this.#strict.decode(bytes, { stream: bytes !== undefined });
    } catch {
      this.#isValid = false;
    }
  }
}

export function detectCsvForm(file: Buffer): CsvForm {
  const detector = new CsvFormDetector();
  detector.add(file);
  return detector.form();
}

const windows1252 = new TextDecoder('windows-1252');

/** csv-parse knows only Latin-1, which has control characters where windows-1252 has quotation marks, dashes and the euro. */
function decodeWindows1252(value: string): string {
  return windows1252.decode(Buffer.from(value, 'latin1'));
}

const delimiters = [',', ';', '\t'] as const;

/**
 * Finds the delimiter of a file: the most frequent in the header row, outside quotes; or a comma. Spreadsheets also
 * name it in a first line such as `sep=;`.
 */
function findDelimiter(beginning: string): { delimiter: string; from_line?: number } {
  const text = beginning.replace(/^\ufeff/, '');
  const named = /^sep=([,;\t])\r?\n/i.exec(text)?.[1];
  if (named !== undefined) return { delimiter: named, from_line: 2 };
  const counts = countInHeader(text.trimStart());
  const delimiter = delimiters.reduce((best, candidate) =>
    (counts.get(candidate) ?? 0) > (counts.get(best) ?? 0) ? candidate : best,
  );
  return { delimiter };
}

function countInHeader(text: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  let isQuoted = false;
  for (const character of text) {
    if (character === '"') isQuoted = !isQuoted;
    if (isQuoted) continue;
    if (character === '\n' || character === '\r') break;
    counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  return counts;
}

/** True for a row of empty values; spreadsheets write these at the end. */
export function isBlank(record: readonly string[]): boolean {
  return record.every((value) => value === '');
}

/** Removes the unnamed columns at the end of a header row; spreadsheets write them for cells once used. */
export function withoutUnnamedEnd(columns: readonly string[]): readonly string[] {
  return columns.slice(0, columns.findLastIndex((column) => column !== '') + 1);
}

/** A sentence that says why a row can't be stored, or undefined. */
export function findUndecoded(record: readonly string[]): string | undefined {
  if (record.some((value) => value.includes('\0'))) return 'A value contains a NUL character';
  return record.some((value) => value.includes('\ufffd'))
    ? 'A value isn’t readable as UTF-8. Save the file as “CSV UTF-8”'
    : undefined;
}

/** Removes invisible characters and trims the text. */
export function visibleText(text: string): string {
  return text.replace(invisible, '').trim();
}

const usualNames = [
  'email',
  'email address',
  'e-mail-adresse',
  'adresse e-mail',
  'courriel',
  'correo electrónico',
] as const;

/** Names of address columns, by preference. `address` alone may be a postal one. */
const addressNames = {
  email: usualNames,
  address: ['email address', 'address', ...usualNames],
} as const;

/**
 * Finds the column of addresses. Case, spaces, hyphens, dots and underscores in its name don't matter, unless only they tell two
 * columns apart.
 * @param name its documented name
 * @returns its index, or a sentence that says what is wrong
 */
export function findAddressColumn(
  columns: readonly string[],
  name: keyof typeof addressNames,
): number | string {
  const exact = columns.map((column) => visibleText(column).toLowerCase());
  const folded = exact.map(foldName);
  for (const candidate of addressNames[name]) {
    const inOrder = [
      { names: exact, wanted: candidate },
      { names: folded, wanted: foldName(candidate) },
    ];
    for (const { names, wanted } of inOrder) {
      const index = names.indexOf(wanted);
      if (index === -1) continue;
      const other = names.indexOf(wanted, index + 1);
      return other === -1 ? index : describeRepeatedColumn(visibleText(columns[other] ?? ''));
    }
  }
  // Lists the existing columns, because the usual cause is a misspelling.
  const found = columns.slice(0, 10).join(', ').slice(0, 200);
  return `The file needs a column “${name}”. It has: ${found}`;
}

/** Error for two columns with the same name. */
export function describeRepeatedColumn(name: string): string {
  return `Two columns are named “${name}”. Rename one`;
}

function foldName(name: string): string {
  return name.replace(/[\s._-]/g, '');
}
