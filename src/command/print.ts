/** `--json`, which every command has that prints a result. */
export interface JsonOption {
  readonly json?: boolean;
}

/** A heading, and the text of an item below it; a dash if there is none. */
export type TableColumn<Item> = readonly [
  heading: string,
  cell: (item: Item) => string | undefined,
];

/** Prints a list as a table with headings, or with `--json` as one object per line. */
export function printTable<Item extends object>(
  { json }: JsonOption,
  items: readonly Item[],
  columns: readonly TableColumn<Item>[],
): void {
  if (json === true) for (const item of items) print(JSON.stringify(item));
  else if (items.length === 0) print('none');
  else {
    const headings = columns.map(([heading]) => heading.toUpperCase());
    const rows = items.map((item) => columns.map(([, cell]) => withoutControls(cell(item) || '-')));
    for (const line of alignColumns([headings, ...rows])) print(line);
  }
}

/** Prints what a command did as text, or with `--json` as an object. */
export function printResult({ json }: JsonOption, text: string, result: object): void {
  print(json === true ? JSON.stringify(result) : text);
}

/** Prints a line on standard output. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Replaces control characters, with which names from outside could change a terminal. */
function withoutControls(text: string): string {
  return text.replaceAll(/\p{C}/gu, '�');
}

function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
