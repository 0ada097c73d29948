export interface BenchOptions {
  /** Of each measurement. */
  readonly seconds: number;
  /** Measurements of each kind, in turns. */
  readonly rounds: number;
  /** Messages in the queue of `deliver-backlog`. */
  readonly queued: number;
  /**
   * Share (0 to 1) of the machine that others may take: a measurement in which they take more is made again. Undefined: each
   * counts.
   */
  readonly calm: number | undefined;
  /** Of the measurement of memory. */
  readonly minutes: number;
  /** For the runtime of the measured process, such as `--cpu-prof`. */
  readonly nodeOptions: readonly string[];
  /** Finished messages that are there before, of 90 days; undefined: what the benchmark needs. */
  readonly history: number | undefined;
  /** Where that history is kept; undefined: in the usual place. */
  readonly historyFolder: string | undefined;
  /** Messages that a benchmark sends itself, where it says so. */
  readonly messages: number;
  /** Rows of `hostile`; undefined: all. */
  readonly attacks: readonly string[] | undefined;
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
  /** Of the ceiling. */
  readonly ceiling_p50_ms?: number;
  readonly ceiling_p99_ms?: number;
  /** Microseconds of the processors for each request: of the service, and of the database. */
  readonly service_us?: number;
  readonly database_us?: number;
  /** Of the load generator. */
  readonly load_us?: number;
  /** Of the ceiling's service. */
  readonly ceiling_us?: number;
  /** Percent of the machine's processors that other programs took meanwhile. */
  readonly elsewhere_percent?: number;
}

/** The results as a table for the screen. */
export function formatTable(results: readonly BenchResult[]): string {
  const head = [
    'name',
    'params',
    'rate/s',
    'ceiling/s',
    'ratio',
    'p50 ms',
    'p99 ms',
    'ceiling p50',
    'ceiling p99',
    'service µs',
    'database µs',
    'load µs',
    'ceiling µs',
    'elsewhere %',
  ];
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
    result.ceiling_p50_ms?.toFixed(1) ?? '',
    result.ceiling_p99_ms?.toFixed(1) ?? '',
    String(result.service_us ?? ''),
    String(result.database_us ?? ''),
    String(result.load_us ?? ''),
    String(result.ceiling_us ?? ''),
    String(result.elsewhere_percent ?? ''),
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
