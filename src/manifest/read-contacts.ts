import { createHash } from 'node:crypto';
import { CsvError, parse } from 'csv-parse/sync';
import { normaliseAddress, parseEmailAddress } from '../foundation/email-address.ts';
import { longestName, longestValue, mostColumns } from '../list/contact-limits.ts';
import type { ManifestContact, ManifestContacts } from './manifest.ts';

const mostRows = 200_000;

/** Bytes of a file of contacts. */
export const largestCsv = 32 * 1024 * 1024;

/** Wrong rows named at most. */
const mostWrongRows = 20;

/** Says what is wrong, after the name of the file: "line 3: …". */
export type Complain = (message: string) => void;

interface Row {
  readonly record: string[];
  readonly info: { readonly lines: number };
}

/**
 * Reads a CSV file (RFC 4180) whose first row names the columns, one of them `email` in any case.
 * @returns undefined where `complain` was told why
 */
export function readContacts(text: string, complain: Complain): ManifestContacts | undefined {
  const rows = parseRows(text, complain);
  if (rows === undefined) return undefined;
  const [header, ...rest] = rows;
  if (header === undefined) {
    complain('has no header row');
    return undefined;
  }
  const columns = header.record.map((name) => name.trim());
  const emailColumn = readHeader(columns, complain);
  if (emailColumn === undefined) return undefined;
  return new ContactReader(columns, emailColumn, complain).read(rest);
}

function parseRows(text: string, complain: Complain): Row[] | undefined {
  try {
    return parse(text, {
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: mostColumns * longestValue,
      to: mostRows + 2,
    }) as unknown as Row[];
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = typeof error.lines === 'number' ? `line ${error.lines}: ` : '';
    complain(`${line}is not CSV (${error.code})`);
    return undefined;
  }
}

/** @returns the place of the email column */
function readHeader(columns: readonly string[], complain: Complain): number | undefined {
  const lower = columns.map((name) => name.toLowerCase());
  const before = lower.filter((name, index) => lower.indexOf(name) !== index);
  if (columns.length > mostColumns) complain(`has more than ${mostColumns} columns`);
  else if (columns.includes('')) complain('line 1: has a column without a name');
  else if (columns.some((name) => name.includes('\0'))) complain('line 1: has a NUL character');
  else if (columns.some((name) => name.length > longestName))
    complain(`line 1: names a column with more than ${longestName} characters`);
  else if (before.length > 0) complain(`line 1: names the column ${before[0]} twice`);
  else if (!lower.includes('email')) complain('line 1: has no column named email');
  else return lower.indexOf('email');
  return undefined;
}

/** Alike for the same contacts, in whatever order a file has its rows and columns. */
function hashContacts(contacts: readonly ManifestContact[]): Buffer {
  const hash = createHash('sha256');
  for (const { email, fields } of contacts.toSorted((a, b) => (a.email < b.email ? -1 : 1))) {
    const names = Object.keys(fields).sort();
    hash.update(`${JSON.stringify([email, names.map((name) => [name, fields[name]])])}\n`);
  }
  return hash.digest();
}

class ContactReader {
  readonly #columns: readonly string[];
  readonly #emailColumn: number;
  readonly #complain: Complain;
  readonly #lines = new Map<string, number>();
  #wrong = 0;

  constructor(columns: readonly string[], emailColumn: number, complain: Complain) {
    this.#columns = columns;
    this.#emailColumn = emailColumn;
    this.#complain = complain;
  }

  read(rows: readonly Row[]): ManifestContacts | undefined {
    if (rows.length > mostRows) {
      this.#complain(`has more than ${mostRows} rows`);
      return undefined;
    }
    const contacts: ManifestContact[] = [];
    for (const { record, info } of rows) {
      const contact = this.#readRow(record, info.lines);
      if (contact === undefined) continue;
      contacts.push(contact);
    }
    if (this.#wrong > mostWrongRows) {
      this.#complain(`has ${this.#wrong - mostWrongRows} more rows that cannot be used`);
    }
    return this.#wrong > 0 ? undefined : { rows: contacts, contentHash: hashContacts(contacts) };
  }

  #readRow(record: readonly string[], line: number): ManifestContact | undefined {
    const wrong = (reason: string): undefined => {
      this.#wrong += 1;
      if (this.#wrong <= mostWrongRows) this.#complain(`line ${line}: ${reason}`);
      return undefined;
    };
    if (record.length !== this.#columns.length) {
      return wrong(`has ${record.length} columns, the header row ${this.#columns.length}`);
    }
    for (const [index, value] of record.entries()) {
      const column = this.#columns[index];
      if (value.length > longestValue)
        return wrong(`has more than ${longestValue} characters in the column ${column}`);
      if (value.includes('\0')) return wrong(`has a NUL character in the column ${column}`);
    }
    const parsed = parseEmailAddress((record[this.#emailColumn] ?? '').trim());
    if (!parsed.ok) return wrong(`the address ${parsed.reason}`);
    const email = normaliseAddress(parsed.address);
    const before = this.#lines.get(email);
    if (before !== undefined) return wrong(`has the address of line ${before} again`);
    this.#lines.set(email, line);
    const fields = Object.fromEntries(
      this.#columns
        .map((name, index) => [name, record[index] ?? ''] as const)
        .filter((_, index) => index !== this.#emailColumn),
    );
    return { email, fields };
  }
}
