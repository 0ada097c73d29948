import { Readable } from 'node:stream';
import type { Kysely } from '../../base/database/open-database.ts';
import {
  describeRepeatedColumn,
  findAddressColumn,
  findUndecoded,
  visibleText,
  withoutUnnamedEnd,
} from '../../base/values/csv-file.ts';
import { csvLine, withoutFormulaGuard } from '../../base/values/csv-line.ts';
import {
  type ComparableAddress,
  normalizeAddress,
  parseEmailAddress,
} from '../../base/values/email-address.ts';
import { isLonger } from '../../base/values/is-longer.ts';
import {
  maxContactColumns,
  maxContactFieldLength,
  maxContactFieldNameLength,
  maxContactFields,
} from './contact-limits.ts';
import { type ListKey, readContactPage, readFieldNames } from './contact-store.ts';

/** The columns that the download of rejected rows adds; they aren't read again. */
export const rejectionColumns = ['Import line', 'Import problem'] as const;

const maxPageRows = 2_000;
const maxPageCells = 200_000;

/** A contact to write. */
export interface FileContact {
  readonly email: ComparableAddress;
  readonly fields: Readonly<Record<string, string>>;
}

/** Reads a row of a contact file; returns why it is invalid, as a sentence, if it is. */
export type ReadContactRow = (record: readonly string[]) => FileContact | string;

/**
 * Reads the header of a contact file: a column of addresses, and a column for each field. An apostrophe before a name makes it a
 * field in any case, such as `'Email`.
 * @returns the reader of its rows, or what is wrong with it, as a sentence
 */
export function readContactHeader(header: readonly string[]): ReadContactRow | string {
  const columns = withoutUnnamedEnd(header).map(withoutFormulaGuard);
  if (columns.length > maxContactColumns)
    return `The file has more than ${maxContactColumns} columns`;
  const addressColumn = findAddressColumn(columns, 'email');
  const fields = new Map<string, number>();
  for (const [index, column] of columns.entries()) {
    const name = index === addressColumn ? undefined : fieldOf(column);
    if (name === undefined) continue;
    if (name === '') return `Column ${index + 1} has no name in the header`;
    if (name.includes('\0')) return 'A column name contains a NUL character';
    if (isLonger(name, maxContactFieldNameLength))
      return `A column name is longer than ${maxContactFieldNameLength} characters`;
    if (fields.has(name)) return describeRepeatedColumn(name);
    fields.set(name, index);
  }
  if (typeof addressColumn === 'string') return addressColumn;
  return (record) => {
    const hasMore = record.slice(columns.length).some((value) => value !== '');
    if (record.length < columns.length || hasMore)
      return `The row has ${countColumns(record)}, but the header has ${countColumns(columns)}`;
    const unreadable = findUndecoded(record);
    if (unreadable !== undefined) return unreadable;
    const parsed = parseEmailAddress(visibleText(withoutFormulaGuard(record[addressColumn] ?? '')));
    if (!parsed.ok) return `The address ${parsed.reason}`;
    const given: [string, string][] = [];
    for (const [name, index] of fields) {
      const value = withoutFormulaGuard(record[index] ?? '').toWellFormed();
      if (isLonger(value, maxContactFieldLength))
        return `A value is longer than ${maxContactFieldLength} characters`;
      if (value !== '') given.push([name, value]);
    }
    if (given.length > maxContactFields) return `The row has more than ${maxContactFields} values`;
    return { email: normalizeAddress(parsed.address), fields: Object.fromEntries(given) };
  };
}

/**
 * The contacts of a list as a file that imports and manifests read, page by page to bound memory.
 * @throws TooManyContactFields before the file begins
 */
export async function writeContactFile(kysely: Kysely, list: ListKey): Promise<Readable> {
  const names = (await readFieldNames(kysely, list)).filter((name) => name !== '');
  return Readable.from(writeLines(kysely, list, names));
}

async function* writeLines(
  kysely: Kysely,
  list: ListKey,
  names: readonly string[],
): AsyncGenerator<string> {
  yield csvLine(['email', ...names.map(columnOf)]);
  const limit = Math.ceil(Math.min(maxPageRows, maxPageCells / (names.length + 1)));
  let after = '';
  for (;;) {
    const page = await readContactPage(kysely, list, { after, limit });
    const last = page.at(-1);
    if (last === undefined) return;
    const lines = page.map(({ email, fields }) => {
      const values = new Map(Object.entries(fields));
      return csvLine([email, ...names.map((name) => values.get(name) ?? '')]);
    });
    yield lines.join('');
    after = last.email;
  }
}

/** The name of a field's column, which `fieldOf` reads. */
function columnOf(field: string): string {
  const isAmbiguous = field.startsWith("'") || visibleText(field) !== field || isReserved(field);
  return isAmbiguous ? `'${field}` : field;
}

/** The field of a column; undefined if it isn't one. */
function fieldOf(column: string): string | undefined {
  if (column.startsWith("'")) return column.slice(1);
  const name = visibleText(column);
  return isReserved(name) ? undefined : name;
}

function isReserved(column: string): boolean {
  return column.toLowerCase() === 'email' || rejectionColumns.some((name) => name === column);
}

function countColumns({ length }: readonly string[]): string {
  return length === 1 ? '1 column' : `${length} columns`;
}
