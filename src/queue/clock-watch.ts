/** Apparent backward step in milliseconds to tolerate, caused by slow replies and clock slewing. */
const toleranceMs = 5_000;

/**
 * Detects when the database clock steps back, by comparing it with this process's monotonic clock. Forward steps are
 * harmless: leases expire early, which fences handle, and waiting messages are due sooner.
 */
export class ClockWatch {
  #lastOffset = Number.NEGATIVE_INFINITY;

  /**
   * @param database database time in milliseconds
   * @param monotonic monotonic time in milliseconds
   * @returns whether the database clock stepped back since the last call
   */
  wasSetBack(database: number, monotonic: number): boolean {
    const offset = database - monotonic;
    const steppedBack = this.#lastOffset - offset > toleranceMs;
    this.#lastOffset = offset;
    return steppedBack;
  }
}
