/**
 * This process's time, for everything that needs no agreement between nodes. SQL statements use the database's `now()`,
 * which is authoritative.
 */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds of a clock that is never adjusted. */
  monotonic(): number;
}

export const systemClock: Clock = { now: Date.now, monotonic: () => performance.now() };
