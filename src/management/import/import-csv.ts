import type { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import {
  maxContactColumns,
  maxContactFieldLength,
  maxContactFieldNameLength,
} from '../../list/contact-limits.ts';

export interface ImportCounts {
  bytesRead: number;
  rowsRead: number;
  rowsWritten: number;
  rowsWrong: number;
  readonly problems: { line: number; reason: string }[];
}

const maxProblems = 100;

/** Rows, and characters, of one statement. */
const maxBatchRows = 2_000;
const maxBatchCharacters = 1_000_000;

interface Row {
  readonly record: string[];
  readonly info: { readonly lines: number; readonly bytes: number };
}

/** Makes something of the rows of a file; `keyOf` tells which of two rows are about the same thing. */
export interface RowReader<Item> {
  /** What the row is, or why it cannot be used. */
  read(record: readonly string[]): Item | string;
  keyOf(item: Item): string;
}

/** A file that cannot be used at all; rows that cannot be used are counted instead. */
export class InvalidImportFile extends Error {}

/**
 * Reads a CSV file (RFC 4180) whose first row names the columns, and hands on what its rows are, some at a time, so that
 * memory stays the same however long the file is. Of rows about the same thing the last one counts.
 * @param open makes the reader of the file with these columns
 * @throws UnusableFile
 */
export async function importCsv<Item extends object>(
  file: Readable,
  counts: ImportCounts,
  open: (columns: readonly string[]) => RowReader<Item>,
  write: (items: readonly Item[]) => Promise<void>,
): Promise<void> {
  const options = {
    bom: true,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: maxContactColumns * maxContactFieldLength,
  } as const;
  const parser = file.on('error', (error) => parser.destroy(error)).pipe(parse(options));
  let reader: RowReader<Item> | undefined;
  let batch = new Map<string, Item>();
  let characters = 0;
  const flush = async () => {
    await write([...batch.values()]);
    counts.rowsWritten += batch.size;
    batch = new Map();
    characters = 0;
  };
  try {
    for await (const { record, info } of parser as AsyncIterable<Row>) {
      counts.bytesRead = info.bytes;
      if (reader === undefined) {
        reader = open(readColumnNames(record));
        continue;
      }
      counts.rowsRead += 1;
      const item = readRow(reader, record);
      if (typeof item === 'string') {
        counts.rowsWrong += 1;
        if (counts.problems.length < maxProblems)
          counts.problems.push({ line: info.lines, reason: item });
        continue;
      }
      batch.set(reader.keyOf(item), item);
      for (const value of record) characters += value.length;
      if (batch.size >= maxBatchRows || characters >= maxBatchCharacters) await flush();
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new InvalidImportFile(`The file is no CSV (${error.code})`, { cause: error });
  }
  if (reader === undefined) throw new InvalidImportFile('The file has no header row');
  if (batch.size > 0) await flush();
}

/** @throws UnusableFile */
function readColumnNames(record: readonly string[]): string[] {
  const columns = record.map((name) => name.trim());
  const lower = columns.map((name) => name.toLowerCase());
  if (columns.length > maxContactColumns)
    throw new InvalidImportFile(`The file has more than ${maxContactColumns} columns`);
  if (columns.includes('')) throw new InvalidImportFile('A column has no name');
  if (columns.some((name) => name.includes('\0')))
    throw new InvalidImportFile('A column name has a NUL character');
  if (columns.some((name) => name.length > maxContactFieldNameLength))
    throw new InvalidImportFile(
      `A column name has more than ${maxContactFieldNameLength} characters`,
    );
  if (new Set(lower).size < lower.length) throw new InvalidImportFile('Two columns have one name');
  return columns;
}

function readRow<Item>(reader: RowReader<Item>, record: readonly string[]): Item | string {
  for (const value of record) {
    if (value.length > maxContactFieldLength)
      return `has more than ${maxContactFieldLength} characters`;
    if (value.includes('\0')) return 'has a NUL character';
  }
  return reader.read(record);
}

/** A value as it was before the export put an apostrophe before what a spreadsheet would run. */
export function stripFormulaGuard(value: string): string {
  return value.replace(/^'(?=[=+\-@\t\r])/, '');
}
