import { formatUtcTime } from './explain-throttle.ts';

const failureThreshold = 3;
const initialPauseMs = 5_000;
const maxPauseMs = 300_000;

/**
 * Circuit breaker for a destination: after a few consecutive failures it opens, then lets one probe through at a time.
 * Each failed probe lengthens the pause; times are milliseconds of the caller's clock.
 */
export class CircuitBreaker {
  #failures = 0;
  #since = 0;
  #until = 0;
  #reason = '';

  /** When the next probe is allowed. */
  get openUntil(): number {
    return this.#until;
  }

  /** Length of the current pause in milliseconds. */
  get pauseMs(): number {
    return this.#until - this.#since;
  }

  /** True until a server replies; meanwhile only one probe at a time is allowed. */
  get isOpen(): boolean {
    return this.#failures >= failureThreshold;
  }

  recordSuccess(): void {
    this.#failures = 0;
  }

  /**
   * Records that no server could be reached. Attempts that began before the last pause are ignored.
   * @returns true if the destination is paused now
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

  /** @param next formatted for display */
  explain(label: string, next: string, now: number): string {
    return `waiting: no server of ${label} could be reached at ${formatUtcTime(this.#since, now)} (${this.#reason}), next at ${next} (UTC)`;
  }
}
