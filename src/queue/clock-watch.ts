/** Milliseconds by which the database's clock may seem to step back: slow answers, and clocks that are slewed. */
const toleranceMs = 5_000;

/**
 * Notices a database clock that was set back, by comparing it with this process's own steady one. A clock that was set
 * forward needs no notice: leases end early, which their fences make harmless, and what waits is due sooner.
 */
export class ClockWatch {
  #lastOffset = Number.NEGATIVE_INFINITY;

  /**
   * @param database milliseconds that the database's clock shows
   * @param monotonic milliseconds of a clock that nobody sets
   * @returns whether the database's clock was set back since the last call
   */
  wasSetBack(database: number, monotonic: number): boolean {
    const offset = database - monotonic;
    const steppedBack = this.#lastOffset - offset > toleranceMs;
    this.#lastOffset = offset;
    return steppedBack;
  }
}
