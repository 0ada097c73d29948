/**
 * Time as the service sees it. The database's clock is the one that decides (`now() + offset` in statements);
 * the process clock serves what needs no agreement between nodes. Only tests set an offset.
 */
export interface Clock {
  /** Milliseconds since the epoch by the process clock, offset included. */
  now(): number;
  /** Milliseconds of a clock that nobody sets. */
  monotonic(): number;
  /** Milliseconds that statements add to the database's `now()`. */
  readonly offset: number;
}

export const systemClock: Clock = { now: Date.now, monotonic: () => performance.now(), offset: 0 };

/** A clock that a test moves forward; `offset` is shared by the process and the statements. */
export class OffsetClock implements Clock {
  offset = 0;

  now(): number {
    return Date.now() + this.offset;
  }

  monotonic(): number {
    return performance.now() + this.offset;
  }

  /** Moves the time by `milliseconds`. */
  advance(ms: number): void {
    this.offset += ms;
  }
}
