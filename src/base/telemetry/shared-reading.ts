import type { Log } from '../values/log.ts';
import { within } from '../values/within.ts';

export interface SharedReadingOptions {
  /** What is read, for the log. */
  readonly what: string;
  readonly log: Log;
  /** Milliseconds for which a value is reused; by default, only gauges collected at the same time share one. */
  readonly maxAgeMs?: number;
}

/** Shorter than the timeouts of scrapers and of other processes of the node. */
const readingTimeoutMs = 1_500;

/**
 * Shares one reading among gauges. At most one runs at a time.
 * @returns undefined if it fails or takes too long
 */
export function shareReading<Value>(
  read: () => Promise<Value>,
  { what, log, maxAgeMs = 0 }: SharedReadingOptions,
): () => Promise<Value | undefined> {
  let reading: Promise<Value | undefined> | undefined;
  let last: { readonly value: Value; readonly at: number } | undefined;
  const start = async (): Promise<Value | undefined> => {
    try {
      const value = await read();
      last = { value, at: performance.now() };
      return value;
    } catch (error) {
      log.warn({ err: error }, `could not read ${what} for the metrics`);
      return undefined;
    } finally {
      reading = undefined;
    }
  };
  return () => {
    if (last !== undefined && performance.now() - last.at < maxAgeMs)
      return Promise.resolve(last.value);
    reading ??= start();
    return within(reading, readingTimeoutMs, () => undefined);
  };
}
