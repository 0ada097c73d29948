import { readFile } from 'node:fs/promises';

/** A value, or minimum and maximum if only those were recorded. */
type Figure = number | readonly [low: number, high: number];

/** A recorded run of a case: the output of `npm run bench -- --json` with topic, case and machine. */
export interface RecordedRun {
  readonly topic: string;
  /** The benchmark, or the test or program that measured it. */
  readonly name: string;
  readonly case: string;
  readonly machine?: string;
  /** The limiting factor. */
  readonly against?: string;
  readonly elsewhere_percent?: number;
  readonly params?: Readonly<Record<string, number | string>>;
  readonly [figure: string]: unknown;
}

/** All runs of one case. */
export interface CaseSummary {
  readonly topic: string;
  readonly case: string;
  readonly against: string;
  /** Excludes runs under load from other processes. */
  readonly runs: readonly RecordedRun[];
}

/** A figure over all runs of a case. The median exists for one run, and for three or more. */
export interface Spread {
  readonly median: number | undefined;
  readonly low: number;
  readonly high: number;
}

/** Runs with more load from other processes than this are ignored. */
const calmPercent = 5;

export async function readBenchmarkResults(file: URL): Promise<CaseSummary[]> {
  const runs = JSON.parse(await readFile(file, 'utf8')) as RecordedRun[];
  const groups = Map.groupBy(
    runs.filter(({ elsewhere_percent = 0 }) => elsewhere_percent <= calmPercent),
    (run) => `${run.topic}\n${run.case}`,
  );
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    return [{ topic: first.topic, case: first.case, against: first.against ?? '', runs: group }];
  });
}

/** @returns undefined if no run has the figure */
export function spreadOf(runs: readonly RecordedRun[], key: string): Spread | undefined {
  const figures = runs.map((run) => run[key] ?? run.params?.[key]).filter(isFigure);
  if (figures.length === 0) return undefined;
  const pairs = figures.map((figure) => (typeof figure === 'number' ? [figure, figure] : figure));
  const exact = figures.filter((figure) => typeof figure === 'number');
  const hasMedian = exact.length === figures.length && exact.length !== 2;
  return {
    median: hasMedian ? medianOf(exact) : undefined,
    low: Math.min(...pairs.map(([low = 0]) => low)),
    high: Math.max(...pairs.map(([, high = 0]) => high)),
  };
}

/** `10,184`, `10,184 (8,750–14,998)`, or `1,130–1,706`. */
export function formatSpread(spread: Spread, key: string): string {
  const { median, low, high } = spread;
  const range = `${formatValue(low, key)}–${formatValue(high, key)}`;
  if (low === high) return formatValue(low, key);
  return median === undefined ? range : `${formatValue(median, key)} (${range})`;
}

/** `10,184`, or the range if the median is unknown. */
export function formatMiddle(spread: Spread, key: string): string {
  const { median } = spread;
  return median === undefined ? formatSpread(spread, key) : formatValue(median, key);
}

function formatValue(value: number, key: string): string {
  if (key.endsWith('ratio')) return value.toFixed(2);
  const digits = key.includes('cpu_ms') ? 3 : key.endsWith('_s') ? 2 : 1;
  const whole = key === 'rate' || key === 'ceiling' ? value >= 100 : value >= 1_000;
  return value.toLocaleString('en-US', { maximumFractionDigits: whole ? 0 : digits });
}

function isFigure(value: unknown): value is Figure {
  return typeof value === 'number' || (Array.isArray(value) && value.length === 2);
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length / 2;
  const low = sorted[Math.ceil(middle) - 1] ?? 0;
  const high = sorted[Math.floor(middle)] ?? 0;
  return (low + high) / 2;
}
