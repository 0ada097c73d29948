/** Where a command reads and prints: the process's streams, or a test's. */
export interface Terminal {
  readonly in: AsyncIterable<Buffer>;
  out(text: string): void;
  err(text: string): void;
}

/** What every command gets: its settings and its terminal. */
export interface CommandShell extends Terminal {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** `--json`, which every command has that prints a result: it prints objects. */
  json?: boolean;
  /** Of the process: 0, or 1 for failed checks. */
  exitCode: number;
}

/** A heading, and the text of an item below it; a dash if there is none. */
export type TableColumn<Item> = readonly [
  heading: string,
  cell: (item: Item) => string | null | undefined,
];

/** Prints a list as a table with headings, or with `--json` as one object per line. */
export function printTable<Item extends object>(
  shell: CommandShell,
  items: readonly Item[],
  columns: readonly TableColumn<Item>[],
): void {
  if (shell.json === true) for (const item of items) print(shell, JSON.stringify(item));
  else if (items.length === 0) print(shell, 'none');
  else {
    const headings = columns.map(([heading]) => heading.toUpperCase());
    const rows = items.map((item) => columns.map(([, cell]) => withoutControls(cell(item) || '-')));
    for (const line of alignColumns([headings, ...rows])) print(shell, line);
  }
}

/** Prints what a command did as text, or with `--json` as an object. */
export function printResult(shell: CommandShell, text: string, result: object): void {
  print(shell, shell.json === true ? JSON.stringify(result) : text);
}

/** Prints a line on standard output. */
export function print(shell: Terminal, line: string): void {
  shell.out(`${line}\n`);
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
