import { createReadStream } from 'node:fs';
import { CsvError, parse } from 'csv-parse';
import { normaliseAddress, parseEmailAddress } from '../../foundation/email-address.ts';

/** A contact as it is written. */
export interface ImportedContact {
  readonly email: string;
  readonly fields: Readonly<Record<string, string>>;
}

export interface ImportCounts {
  bytesRead: number;
  rowsRead: number;
  rowsWritten: number;
  rowsWrong: number;
  readonly problems: { line: number; reason: string }[];
}

const mostColumns = 100;
const longestValue = 4_000;
const mostProblems = 100;
/** Contacts of one statement. */
const chunk = 2_000;

interface Row {
  readonly record: string[];
  readonly info: { readonly lines: number; readonly bytes: number };
}

/** A file that is no list of contacts; rows that cannot be used are counted instead. */
export class UnusableFile extends Error {}

/**
 * Reads a CSV file (RFC 4180) whose first row names the columns, one of them `email` in any case, and hands its contacts
 * on by the thousand, so that memory stays the same however long the file is. The last row of an address counts.
 * @throws UnusableFile
 */
export async function importContacts(
  file: string,
  counts: ImportCounts,
  write: (contacts: readonly ImportedContact[]) => Promise<void>,
): Promise<void> {
  const parser = createReadStream(file).pipe(
    parse({
      bom: true,
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: mostColumns * longestValue,
    }),
  );
  let reader: RowReader | undefined;
  let batch = new Map<string, ImportedContact>();
  const flush = async () => {
    await write([...batch.values()]);
    counts.rowsWritten += batch.size;
    batch = new Map();
  };
  try {
    for await (const { record, info } of parser as AsyncIterable<Row>) {
      counts.bytesRead = info.bytes;
      if (reader === undefined) {
        reader = new RowReader(record.map((name) => name.trim()));
        continue;
      }
      counts.rowsRead += 1;
      const contact = reader.read(record);
      if (typeof contact === 'string') {
        counts.rowsWrong += 1;
        if (counts.problems.length < mostProblems)
          counts.problems.push({ line: info.lines, reason: contact });
      } else batch.set(contact.email, contact);
      if (batch.size >= chunk) await flush();
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new UnusableFile(`The file is no CSV (${error.code})`, { cause: error });
  }
  if (reader === undefined) throw new UnusableFile('The file has no header row');
  if (batch.size > 0) await flush();
}

class RowReader {
  readonly #columns: readonly string[];
  readonly #email: number;

  /** @throws UnusableFile */
  constructor(columns: readonly string[]) {
    const lower = columns.map((name) => name.toLowerCase());
    if (columns.length > mostColumns)
      throw new UnusableFile(`The file has more than ${mostColumns} columns`);
    if (columns.includes('')) throw new UnusableFile('A column has no name');
    if (new Set(lower).size < lower.length) throw new UnusableFile('Two columns have one name');
    this.#columns = columns;
    this.#email = lower.indexOf('email');
    if (this.#email === -1) throw new UnusableFile('No column is called email');
  }

  /** The contact, or why the row has none. */
  read(record: readonly string[]): ImportedContact | string {
    if (record.length !== this.#columns.length)
      return `has ${record.length} columns, the header row ${this.#columns.length}`;
    for (const value of record) {
      if (value.length > longestValue) return `has more than ${longestValue} characters`;
      if (value.includes('\0')) return 'has a NUL character';
    }
    const parsed = parseEmailAddress(plain(record[this.#email] ?? '').trim());
    if (!parsed.ok) return `the address ${parsed.reason}`;
    const fields: Record<string, string> = {};
    this.#columns.forEach((name, place) => {
      if (place !== this.#email) fields[name] = plain(record[place] ?? '').toWellFormed();
    });
    return { email: normaliseAddress(parsed.address), fields };
  }
}

/** The export puts an apostrophe before what a spreadsheet would run. */
function plain(value: string): string {
  return value.replace(/^'(?=[=+\-@\t\r])/, '');
}
