import type { FailoverFaultName } from './failover/failover-faults.ts';

/** The options of `main.ts`, which describes them. */
export interface BenchOptions {
  readonly seconds: number;
  readonly rounds: number;
  /** A share from 0 to 1. */
  readonly calm?: number;
  readonly queued: number;
  readonly minutes: number;
  readonly messages: number;
  readonly history?: number;
  readonly historyFolder?: string;
  readonly attack?: readonly string[];
  readonly rate: number;
  readonly asynchronous?: boolean;
  readonly fault?: readonly FailoverFaultName[];
  /** Of the measured process. */
  readonly nodeOptions: readonly string[];
}

const columns = [
  ['rate/s', 'rate', 0],
  ['ceiling/s', 'ceiling', 0],
  ['ratio', 'ratio', 2],
  ['p50 ms', 'p50_ms', 1],
  ['p99 ms', 'p99_ms', 1],
  ['ceiling p50', 'ceiling_p50_ms', 1],
  ['ceiling p99', 'ceiling_p99_ms', 1],
  ['service µs', 'service_us', 0],
  ['database µs', 'database_us', 0],
  ['load µs', 'load_us', 0],
  ['ceiling µs', 'ceiling_us', 0],
  ['WAL bytes', 'wal_bytes', 0],
  ['kept bytes', 'kept_bytes', 0],
  ['commits', 'commits', 2],
  ['through/s', 'through_per_second', 0],
  ['follow µs', 'follow_us', 0],
  ['elsewhere %', 'elsewhere_percent', 0],
] as const;

type Figures = Readonly<Record<(typeof columns)[number][1], number>>;

/** A row of the table; `docs/benchmarks-method.md` describes the fields. */
export type BenchResult = Partial<Figures> &
  Pick<Figures, 'rate' | 'ceiling' | 'ratio' | 'p50_ms' | 'p99_ms'> & {
    readonly name: string;
    readonly params: Readonly<Record<string, number | string>>;
  };

/** Fields that a benchmark doesn't measure are 0. */
export function makeResult(
  name: string,
  params: BenchResult['params'],
  measured: Partial<Omit<BenchResult, 'name' | 'params'>>,
): BenchResult {
  const { rate = 0, ceiling = 0, ...others } = measured;
  return {
    name,
    params,
    rate: Math.round(rate),
    ceiling: Math.round(ceiling),
    ratio: ceiling === 0 ? 0 : rate / ceiling,
    p50_ms: 0,
    p99_ms: 0,
    ...others,
  };
}

export function median(numbers: readonly number[]): number {
  return percentile(numbers, 0.5);
}

/** @param share 0 to 1. @returns 0 if there are no numbers */
function percentile(numbers: readonly number[], share: number): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length * share)] ?? 0;
}

/** The latencies of a result. */
export function percentiles(times: readonly number[]) {
  return { p50_ms: percentile(times, 0.5), p99_ms: percentile(times, 0.99) };
}

export function formatTable(results: readonly BenchResult[]): string {
  const head = ['name', 'params', ...columns.map(([title]) => title)];
  const lines = results.map((result) => [
    result.name,
    Object.entries(result.params)
      .map(([name, value]) => `${name}=${value}`)
      .join(' '),
    ...columns.map(([, field, digits]) => result[field]?.toFixed(digits) ?? ''),
  ]);
  const widths = head.map((title, column) =>
    Math.max(title.length, ...lines.map((line) => line[column]?.length ?? 0)),
  );
  const pad = (line: readonly string[]) =>
    line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ');
  return [head, ...lines].map((line) => pad(line).trimEnd()).join('\n');
}
