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

/** Max rows and characters per statement. */
const maxBatchRows = 2_000;
const maxBatchCharacters = 1_000_000;

interface Row {
  readonly record: string[];
  readonly info: { readonly lines: number; readonly bytes: number };
}

/** Converts the rows of a file; rows with the same `keyOf` replace each other. */
export interface RowReader<Item> {
  /** The item, or why the row is invalid. */
  read(record: readonly string[]): Item | string;
  keyOf(item: Item): string;
}

/** Thrown if the whole file is invalid. Invalid rows are only counted. */
export class InvalidImportFile extends Error {}

/**
 * Reads a CSV file (RFC 4180) with a header row in batches, so memory doesn't grow with the file. Within a batch, the last
 * row with the same key wins.
 * @param open creates the reader for the file's columns
 * @throws InvalidImportFile
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
    throw new InvalidImportFile(`The file isn’t valid CSV (${error.code})`, { cause: error });
  }
  if (reader === undefined) throw new InvalidImportFile('The file has no header row');
  if (batch.size > 0) await flush();
}

/** @throws InvalidImportFile */
function readColumnNames(record: readonly string[]): string[] {
  const columns = record.map((name) => name.trim());
  const lower = columns.map((name) => name.toLowerCase());
  if (columns.length > maxContactColumns)
    throw new InvalidImportFile(`The file has more than ${maxContactColumns} columns`);
  if (columns.includes('')) throw new InvalidImportFile('A column name is empty');
  if (columns.some((name) => name.includes('\0')))
    throw new InvalidImportFile('A column name contains a NUL character');
  if (columns.some((name) => name.length > maxContactFieldNameLength))
    throw new InvalidImportFile(
      `A column name is longer than ${maxContactFieldNameLength} characters`,
    );
  if (new Set(lower).size < lower.length)
    throw new InvalidImportFile('Two columns have the same name');
  return columns;
}

function readRow<Item>(reader: RowReader<Item>, record: readonly string[]): Item | string {
  for (const value of record) {
    if (value.length > maxContactFieldLength)
      return `has a value longer than ${maxContactFieldLength} characters`;
    if (value.includes('\0')) return 'contains a NUL character';
  }
  return reader.read(record);
}

/** Removes the apostrophe that the export puts before values a spreadsheet would run as formulas. */
export function stripFormulaGuard(value: string): string {
  return value.replace(/^'(?=[=+\-@\t\r])/, '');
}
