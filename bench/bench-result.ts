export interface BenchOptions {
  /** Of each measurement. */
  readonly seconds: number;
  /** Measurements of each kind, in turns. */
  readonly rounds: number;
  /** For the runtime of the measured process, such as `--cpu-prof`. */
  readonly nodeOptions: readonly string[];
}

/** One line of the table, beside the ceiling that was measured in the same run. */
export interface BenchResult {
  readonly name: string;
  readonly params: Readonly<Record<string, number | string>>;
  /** Per second. */
  readonly rate: number;
  readonly ceiling: number;
  readonly ratio: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
}

/** The results as a table for the screen. */
export function formatTable(results: readonly BenchResult[]): string {
  const head = ['name', 'params', 'rate/s', 'ceiling/s', 'ratio', 'p50 ms', 'p99 ms'];
  const lines = results.map((result) => [
    result.name,
    Object.entries(result.params)
      .map(([name, value]) => `${name}=${value}`)
      .join(' '),
    String(result.rate),
    String(result.ceiling),
    result.ratio.toFixed(2),
    result.p50_ms.toFixed(1),
    result.p99_ms.toFixed(1),
  ]);
  const widths = head.map((title, column) =>
    Math.max(title.length, ...lines.map((line) => line[column]?.length ?? 0)),
  );
  return [head, ...lines]
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
