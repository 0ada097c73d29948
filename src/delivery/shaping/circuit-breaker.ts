import { formatUtcTime } from './explain-throttle.ts';

const failureThreshold = 3;
const initialPauseMs = 5_000;
const maxPauseMs = 300_000;

/**
 * The outage of a destination: after a few failures in a row nobody goes for a while, then one looks whether a server is
 * there again, and each time that none is the while is longer. Times are milliseconds of the caller's clock.
 */
export class CircuitBreaker {
  #failures = 0;
  #since = 0;
  #until = 0;
  #reason = '';

  /** When somebody may look again. */
  get openUntil(): number {
    return this.#until;
  }

  /** Milliseconds of the while that ends then. */
  get pauseMs(): number {
    return this.#until - this.#since;
  }

  /** True from the failure that makes it one until a server answers: one at a time may look. */
  get isOpen(): boolean {
    return this.#failures >= failureThreshold;
  }

  /** A server answered. */
  recordSuccess(): void {
    this.#failures = 0;
  }

  /**
   * No server could be spoken with. What began before the last look-away says nothing new.
   * @returns true where nobody is to go now
   */
  recordFailure(text: string, begunAt: number, now: number): boolean {
    if (begunAt < this.#since) return false;
    this.#failures += 1;
    if (!this.isOpen) return false;
    const pauseMs = Math.min(initialPauseMs * 2 ** (this.#failures - failureThreshold), maxPauseMs);
    this.#since = now;
    this.#until = now + pauseMs;
    this.#reason = text.slice(0, 200);
    return true;
  }

  /** @param next as it is shown */
  explain(label: string, next: string, now: number): string {
    return `waiting: no server of ${label} could be reached at ${formatUtcTime(this.#since, now)} (${this.#reason}), next at ${next} (UTC)`;
  }
}
