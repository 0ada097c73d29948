import { createHash } from 'node:crypto';
import { CsvError, parse } from 'csv-parse/sync';
import { detectCsvForm, isBlank } from '../../base/values/csv-file.ts';
import { type ReadContactRow, readContactHeader } from '../../content/list/contact-file.ts';
import { maxContactRowBytes } from '../../content/list/contact-limits.ts';
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
 * Reads a CSV file (RFC 4180) with a header row, as imports do.
 * @returns undefined if a problem was reported
 */
export function readContacts(
  file: Buffer,
  reportProblem: ReportContactProblem,
): ManifestContacts | undefined {
  const rows = parseRows(file, reportProblem);
  if (rows === undefined) return undefined;
  const [header, ...rest] = rows;
  if (header === undefined) {
    reportProblem('has no header row');
    return undefined;
  }
  const readRow = readContactHeader(header.record);
  if (typeof readRow !== 'string') return new ContactReader(readRow, reportProblem).read(rest);
  reportProblem(`line 1: ${readRow}`);
  return undefined;
}

function parseRows(file: Buffer, reportProblem: ReportContactProblem): Row[] | undefined {
  try {
    const rows = parse(file, {
      ...detectCsvForm(file),
      max_record_size: maxContactRowBytes,
      to: maxRows + 2,
    }) as unknown as Row[];
    return rows.filter(({ record }) => !isBlank(record));
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = typeof error.lines === 'number' ? `line ${error.lines}: ` : '';
    reportProblem(`${line}is not CSV (${error.code})`);
    return undefined;
  }
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
  readonly #readRow: ReadContactRow;
  readonly #reportProblem: ReportContactProblem;
  readonly #lines = new Map<string, number>();
  #rejected = 0;

  constructor(readRow: ReadContactRow, reportProblem: ReportContactProblem) {
    this.#readRow = readRow;
    this.#reportProblem = reportProblem;
  }

  read(rows: readonly Row[]): ManifestContacts | undefined {
    if (rows.length > maxRows) {
      this.#reportProblem(`has more than ${maxRows} rows`);
      return undefined;
    }
    const contacts: ManifestContact[] = [];
    for (const { record, info } of rows) {
      const contact = this.#read(record, info.lines);
      if (contact === undefined) continue;
      contacts.push(contact);
    }
    if (this.#rejected > maxReportedRows) {
      this.#reportProblem(`has ${this.#rejected - maxReportedRows} more invalid rows`);
    }
    return this.#rejected > 0 ? undefined : { rows: contacts, contentHash: hashContacts(contacts) };
  }

  #read(record: readonly string[], line: number): ManifestContact | undefined {
    const contact = this.#readRow(record);
    if (typeof contact === 'string') return this.#reject(contact, line);
    const before = this.#lines.get(contact.email);
    if (before !== undefined) return this.#reject(`The address repeats line ${before}`, line);
    this.#lines.set(contact.email, line);
    return contact;
  }

  #reject(reason: string, line: number): undefined {
    this.#rejected += 1;
    if (this.#rejected <= maxReportedRows) this.#reportProblem(`line ${line}: ${reason}`);
  }
}
