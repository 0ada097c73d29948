import type { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { type CsvForm, isBlank } from '../../../base/values/csv-file.ts';
import { maxContactRowBytes } from '../../../content/list/contact-limits.ts';

/** How far an import is: everything up to this row is written. */
export interface ImportCounts {
  readonly bytesRead: number;
  readonly rowsRead: number;
  readonly rowsWritten: number;
  readonly rowsWrong: number;
}

/** A row that couldn't be imported. */
export interface RejectedRow {
  /** Its number, from 1 after the header. */
  readonly row: number;
  readonly line: number;
  readonly reason: string;
  readonly record: readonly string[];
}

/** The next part of a file. */
export interface ImportStep<Item> {
  readonly items: readonly Item[];
  readonly rejected: readonly RejectedRow[];
  readonly columns: readonly string[];
  /** Once the step is written. */
  readonly counts: ImportCounts;
}

/** Max rows, rejected rows and characters per step. */
const maxStepRows = 2_000;
const maxStepRejected = 500;
const maxStepCharacters = 1_000_000;

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

/** Thrown if the rest of the file can't be imported. Invalid rows are only rejected. */
export class InvalidImportFile extends Error {
  /** 0: the file as a whole. */
  readonly line: number;

  constructor(message: string, line = 0, options: ErrorOptions = {}) {
    super(message, options);
    this.line = line;
  }
}

/**
 * Reads a CSV file (RFC 4180) with a header row in steps, so memory doesn't grow with the file. Within a step, the last row
 * with the same key wins.
 * @param form as `CsvFormDetector` found it
 * @param start rows that were read before are skipped
 * @param open creates the reader for the file's columns
 * @throws InvalidImportFile after the rows before it were written
 */
export async function importCsv<Item extends object>(
  file: Readable,
  form: CsvForm,
  start: ImportCounts,
  open: (columns: readonly string[]) => RowReader<Item>,
  write: (step: ImportStep<Item>) => Promise<void>,
): Promise<void> {
  const parser = file
    .on('error', (error) => parser.destroy(error))
    .pipe(parse({ ...form, max_record_size: maxContactRowBytes }));
  let columns: readonly string[] | undefined;
  let reader: RowReader<Item> | undefined;
  let { rowsWritten, rowsWrong } = start;
  let rowsRead = 0;
  let bytesRead = 0;
  let items = new Map<string, Item>();
  let rejected: RejectedRow[] = [];
  let characters = 0;
  const flush = async () => {
    rowsWritten += items.size;
    rowsWrong += rejected.length;
    const counts = { bytesRead, rowsRead, rowsWritten, rowsWrong };
    const written = { items: [...items.values()], rejected, columns: columns ?? [], counts };
    items = new Map();
    rejected = [];
    characters = 0;
    await write(written);
  };
  const add = (record: readonly string[], line: number) => {
    if (reader === undefined) return;
    const item = reader.read(record);
    if (typeof item === 'string') rejected.push({ row: rowsRead, line, reason: item, record });
    else items.set(reader.keyOf(item), item);
    for (const value of record) characters += value.length + 1;
  };
  let invalid: InvalidImportFile | undefined;
  try {
    for await (const { record, info } of parser as AsyncIterable<Row>) {
      bytesRead = info.bytes;
      if (reader === undefined) {
        if (isBlank(record)) continue;
        columns = record;
        reader = open(columns);
        continue;
      }
      rowsRead += 1;
      if (rowsRead <= start.rowsRead || isBlank(record)) continue;
      add(record, info.lines);
      if (
        items.size >= maxStepRows ||
        rejected.length >= maxStepRejected ||
        characters >= maxStepCharacters
      )
        await flush();
    }
  } catch (error) {
    invalid = asInvalidFile(error);
    if (invalid === undefined) throw error;
  }
  if (reader === undefined) throw invalid ?? new InvalidImportFile('The file has no header row');
  await flush();
  if (invalid !== undefined) throw invalid;
}

const valueContinues =
  'After a closing quotation mark, a value continues. Double quotation marks inside values ("")';

/** What the parser's errors mean for someone who looks at the file. */
const parserErrors: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'A quotation mark is never closed. Close it, or remove it',
  CSV_INVALID_CLOSING_QUOTE: valueContinues,
  CSV_NON_TRIMABLE_CHAR_AFTER_CLOSING_QUOTE: valueContinues,
  INVALID_OPENING_QUOTE:
    'A quotation mark is inside a value. Quote the value, and double the quotation mark ("")',
  CSV_MAX_RECORD_SIZE: 'The row is too long. Maybe a quotation mark before it isn’t closed',
};

function asInvalidFile(error: unknown): InvalidImportFile | undefined {
  if (error instanceof InvalidImportFile) return error;
  if (!(error instanceof CsvError)) return undefined;
  const { code, lines } = error as CsvError & { readonly lines?: number };
  const reason = parserErrors[code] ?? `The file isn’t valid CSV (${code})`;
  return new InvalidImportFile(reason, typeof lines === 'number' ? lines : 0, { cause: error });
}
