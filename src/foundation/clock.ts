/**
 * Time as this process sees it, for what needs no agreement between nodes. Statements ask the database's own `now()`, which
 * is the one that decides.
 */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds of a clock that nobody sets. */
  monotonic(): number;
}

export const systemClock: Clock = { now: Date.now, monotonic: () => performance.now() };
