import { type CaseSummary, spreadOf } from './benchmark-results.ts';

/** What a message costs at some rate, from acceptance to the last follower. */
export interface UnitCost {
  /** Messages a second of one database at which it was measured. */
  readonly rate: number;
  readonly serviceMicroseconds: number;
  readonly databaseMicroseconds: number;
  /** Of the slowest follower, which handles one window after another. */
  readonly followMicroseconds: number;
  readonly walBytes: number;
  readonly keptBytes: number;
}

/** Below, messages are flushed one by one; above, those of many accounts are flushed together. */
const rates = { single: 100, many: 1_000 };

/** What `npm run bench -- capacity` measured: one message at a time, and many at once for many accounts. */
export interface MeasuredCosts {
  readonly single: UnitCost;
  readonly many: UnitCost;
}

/** @throws if a figure of the topic `capacity` is missing in the results */
export function readCosts(summaries: readonly CaseSummary[]): MeasuredCosts {
  const many = readCost(summaries, '200 accounts, burst', rates.many);
  const single = readCost(summaries, '100 a second', rates.single, many);
  return { single, many };
}

/** The cost at a rate of one database: each tenfold rate flushes more messages together. */
export function costAt(rate: number, { single, many }: MeasuredCosts): UnitCost {
  const position = Math.log(rate / rates.single) / Math.log(rates.many / rates.single);
  const share = Math.min(1, Math.max(0, position));
  const between = (key: keyof UnitCost) => single[key] + (many[key] - single[key]) * share;
  return {
    rate,
    serviceMicroseconds: between('serviceMicroseconds'),
    databaseMicroseconds: between('databaseMicroseconds'),
    followMicroseconds: between('followMicroseconds'),
    walBytes: between('walBytes'),
    keptBytes: between('keptBytes'),
  };
}

/** @param otherwise has figures that were measured in bursts only */
function readCost(
  summaries: readonly CaseSummary[],
  name: string,
  rate: number,
  otherwise?: UnitCost,
): UnitCost {
  const read = (key: string, fallback?: number) => readFigure(summaries, name, key, fallback);
  return {
    rate,
    serviceMicroseconds: read('service_us'),
    databaseMicroseconds: read('database_us'),
    followMicroseconds: read('follow_us', otherwise?.followMicroseconds),
    walBytes: read('wal_bytes'),
    keptBytes: read('kept_bytes'),
  };
}

/**
 * A figure that `npm run bench -- capacity` measured: its median, or the highest of two runs.
 * @throws if it is missing and there is no fallback
 */
export function readFigure(
  summaries: readonly CaseSummary[],
  name: string,
  key: string,
  fallback?: number,
): number {
  const found = summaries.find((summary) => summary.topic === 'capacity' && summary.case === name);
  const spread = found && spreadOf(found.runs, key);
  const value = spread === undefined ? fallback : (spread.median ?? spread.high);
  if (value === undefined) throw new Error(`results.json has no ${key} of capacity, ${name}`);
  return value;
}
