/**
 * The service's time. The database clock is authoritative (`now() + offset` in statements); the process clock is used where
 * nodes don't need to agree. Only tests set an offset.
 */
export interface Clock {
  /** Process clock in milliseconds since the epoch, including the offset. */
  now(): number;
  /** Milliseconds of a clock that nobody sets. */
  monotonic(): number;
  /** Milliseconds to add to the database's `now()`. */
  readonly offset: number;
}

export const systemClock: Clock = { now: Date.now, monotonic: () => performance.now(), offset: 0 };

/** A clock that tests can advance, for the process and for statements. */
export class OffsetClock implements Clock {
  offset = 0;

  now(): number {
    return Date.now() + this.offset;
  }

  monotonic(): number {
    return performance.now() + this.offset;
  }

  /** Advances the time. */
  advance(ms: number): void {
    this.offset += ms;
  }
}
