import { showTime } from './explain-wait.ts';

const failuresUntilDown = 3;
const firstPause = 5_000;
const longestPause = 300_000;

/**
 * The outage of a destination: after a few failures in a row nobody goes for a while, then one looks whether a server is
 * there again, and each time that none is the while is longer. Times are milliseconds of the caller's clock.
 */
export class Outage {
  #failures = 0;
  #since = 0;
  #until = 0;
  #reason = '';

  /** When somebody may look again. */
  get until(): number {
    return this.#until;
  }

  /** Milliseconds of the while that ends then. */
  get pause(): number {
    return this.#until - this.#since;
  }

  /** True from the failure that makes it one until a server answers: one at a time may look. */
  get lasts(): boolean {
    return this.#failures >= failuresUntilDown;
  }

  /** A server answered. */
  end(): void {
    this.#failures = 0;
  }

  /**
   * No server could be spoken with. What began before the last look-away says nothing new.
   * @returns true where nobody is to go now
   */
  fail(text: string, begunAt: number, now: number): boolean {
    if (begunAt < this.#since) return false;
    this.#failures += 1;
    if (!this.lasts) return false;
    const pause = Math.min(firstPause * 2 ** (this.#failures - failuresUntilDown), longestPause);
    this.#since = now;
    this.#until = now + pause;
    this.#reason = text.slice(0, 200);
    return true;
  }

  /** @param next as it is shown */
  explain(label: string, next: string, now: number): string {
    return `waiting: no server of ${label} could be reached at ${showTime(this.#since, now)} (${this.#reason}), next at ${next} (UTC)`;
  }
}
