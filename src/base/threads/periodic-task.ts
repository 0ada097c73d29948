export interface PeriodicTaskOptions {
  /** Called with the error of a failed round. Without it, rounds must not reject. */
  readonly onError?: (error: unknown) => void;
  /** Milliseconds until the next round after a failed one; by default, the interval. */
  readonly retryMs?: number;
}

/** Runs work periodically; rounds never overlap, even if one takes longer than the interval. */
export class PeriodicTask {
  readonly #intervalMs: number;
  readonly #run: () => Promise<void> | void;
  readonly #options: PeriodicTaskOptions;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #started = false;

  /** @param intervalMs milliseconds between the starts of rounds, and before the first one */
  constructor(
    intervalMs: number,
    run: () => Promise<void> | void,
    options: PeriodicTaskOptions = {},
  ) {
    this.#intervalMs = intervalMs;
    this.#run = run;
    this.#options = options;
  }

  start(): void {
    if (this.#started) return;
    this.#started = true;
    this.#schedule(this.#intervalMs);
  }

  /**
   * Starts a round now, or another one after the current round. Does nothing unless the task is started.
   * @returns a promise that resolves when that round has ended
   */
  runNow(): Promise<void> {
    if (!this.#started) return Promise.resolve();
    if (this.#running === undefined) return this.#begin();
    this.#next ??= this.#running.then(() => {
      this.#next = undefined;
      return this.#started ? this.#begin() : undefined;
    });
    return this.#next;
  }

  /** Starts no further round; resolves when the current one has ended. */
  async stop(): Promise<void> {
    this.#started = false;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #schedule(delayMs: number): void {
    this.#timer = setTimeout(() => void this.#begin(), delayMs).unref();
  }

  #begin(): Promise<void> {
    clearTimeout(this.#timer);
    const startedAt = performance.now();
    this.#running = this.#runRound().then((succeeded) => {
      this.#running = undefined;
      if (!this.#started) return;
      // The interval is measured between starts, as long as rounds are shorter than it.
      const delayMs = this.#intervalMs - ((performance.now() - startedAt) % this.#intervalMs);
      this.#schedule(succeeded ? delayMs : (this.#options.retryMs ?? delayMs));
    });
    return this.#running;
  }

  /** @returns false if it failed */
  async #runRound(): Promise<boolean> {
    try {
      await this.#run();
      return true;
    } catch (error) {
      if (this.#options.onError === undefined) throw error;
      this.#options.onError(error);
      return false;
    }
  }
}
