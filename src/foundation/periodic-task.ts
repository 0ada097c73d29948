/** Runs work periodically; rounds never overlap, even if one takes longer than the interval. */
export class PeriodicTask {
  readonly #intervalMs: number;
  readonly #run: () => Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;

  /**
   * @param intervalMs milliseconds between rounds and before the first one
   * @param run must not reject; it handles its own errors
   */
  constructor(intervalMs: number, run: () => Promise<void>) {
    this.#intervalMs = intervalMs;
    this.#run = run;
  }

  start(): void {
    this.#timer ??= setInterval(() => {
      this.#running ??= this.#run().finally(() => {
        this.#running = undefined;
      });
    }, this.#intervalMs).unref();
  }

  /** Starts no further round; resolves when the current one has ended. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }
}
