import { createHash } from 'node:crypto';
import { CsvError, parse } from 'csv-parse/sync';
import { normalizeAddress, parseEmailAddress } from '../foundation/email-address.ts';
import {
  maxContactColumns,
  maxContactFieldLength,
  maxContactFieldNameLength,
} from '../list/contact-limits.ts';
import type { ManifestContact, ManifestContacts } from './manifest.ts';

const maxRows = 200_000;

/** Max bytes of a contacts file. */
export const maxCsvBytes = 32 * 1024 * 1024;

/** Max invalid rows reported. */
const maxReportedRows = 20;

/** Reports a problem, phrased to follow the file name: "line 3: …". */
type ReportContactProblem = (message: string) => void;

interface Row {
  readonly record: string[];
  readonly info: { readonly lines: number };
}

/**
 * Reads a CSV file (RFC 4180) with a header row, which must have an `email` column (case-insensitive).
 * @returns undefined if a problem was reported
 */
export function readContacts(
  text: string,
  reportProblem: ReportContactProblem,
): ManifestContacts | undefined {
  const rows = parseRows(text, reportProblem);
  if (rows === undefined) return undefined;
  const [header, ...rest] = rows;
  if (header === undefined) {
    reportProblem('has no header row');
    return undefined;
  }
  const columns = header.record.map((name) => name.trim());
  const emailColumn = readHeader(columns, reportProblem);
  if (emailColumn === undefined) return undefined;
  return new ContactReader(columns, emailColumn, reportProblem).read(rest);
}

function parseRows(text: string, reportProblem: ReportContactProblem): Row[] | undefined {
  try {
    return parse(text, {
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: maxContactColumns * maxContactFieldLength,
      to: maxRows + 2,
    }) as unknown as Row[];
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = typeof error.lines === 'number' ? `line ${error.lines}: ` : '';
    reportProblem(`${line}is not CSV (${error.code})`);
    return undefined;
  }
}

/** @returns the index of the email column */
function readHeader(
  columns: readonly string[],
  reportProblem: ReportContactProblem,
): number | undefined {
  const lower = columns.map((name) => name.toLowerCase());
  const before = lower.filter((name, index) => lower.indexOf(name) !== index);
  if (columns.length > maxContactColumns)
    reportProblem(`has more than ${maxContactColumns} columns`);
  else if (columns.includes('')) reportProblem('line 1: has an empty column name');
  else if (columns.some((name) => name.includes('\0')))
    reportProblem('line 1: contains a NUL character');
  else if (columns.some((name) => name.length > maxContactFieldNameLength))
    reportProblem(`line 1: has a column name longer than ${maxContactFieldNameLength} characters`);
  else if (before.length > 0) reportProblem(`line 1: has a duplicate column ${before[0]}`);
  else if (!lower.includes('email')) reportProblem('line 1: has no column named email');
  else return lower.indexOf('email');
  return undefined;
}

/** Independent of the order of rows and columns. */
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
  readonly #reportProblem: ReportContactProblem;
  readonly #lines = new Map<string, number>();
  #rejected = 0;

  constructor(
    columns: readonly string[],
    emailColumn: number,
    reportProblem: ReportContactProblem,
  ) {
    this.#columns = columns;
    this.#emailColumn = emailColumn;
    this.#reportProblem = reportProblem;
  }

  read(rows: readonly Row[]): ManifestContacts | undefined {
    if (rows.length > maxRows) {
      this.#reportProblem(`has more than ${maxRows} rows`);
      return undefined;
    }
    const contacts: ManifestContact[] = [];
    for (const { record, info } of rows) {
      const contact = this.#readRow(record, info.lines);
      if (contact === undefined) continue;
      contacts.push(contact);
    }
    if (this.#rejected > maxReportedRows) {
      this.#reportProblem(`has ${this.#rejected - maxReportedRows} more invalid rows`);
    }
    return this.#rejected > 0 ? undefined : { rows: contacts, contentHash: hashContacts(contacts) };
  }

  #readRow(record: readonly string[], line: number): ManifestContact | undefined {
    const reject = (reason: string): undefined => {
      this.#rejected += 1;
      if (this.#rejected <= maxReportedRows) this.#reportProblem(`line ${line}: ${reason}`);
      return undefined;
    };
    if (record.length !== this.#columns.length) {
      return reject(`has ${record.length} columns instead of ${this.#columns.length}`);
    }
    for (const [index, value] of record.entries()) {
      const column = this.#columns[index];
      if (value.length > maxContactFieldLength)
        return reject(`has more than ${maxContactFieldLength} characters in column ${column}`);
      if (value.includes('\0')) return reject(`contains a NUL character in column ${column}`);
    }
    const parsed = parseEmailAddress((record[this.#emailColumn] ?? '').trim());
    if (!parsed.ok) return reject(`the address ${parsed.reason}`);
    const email = normalizeAddress(parsed.address);
    const before = this.#lines.get(email);
    if (before !== undefined) return reject(`repeats the address of line ${before}`);
    this.#lines.set(email, line);
    const fields = Object.fromEntries(
      this.#columns
        .map((name, index) => [name, record[index] ?? ''] as const)
        .filter((_, index) => index !== this.#emailColumn),
    );
    return { email, fields };
  }
}
