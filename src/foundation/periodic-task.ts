/** Work that is done every so often, one round at a time: a round that takes longer than the interval has no second one beside it. */
export class PeriodicTask {
  readonly #intervalMs: number;
  readonly #run: () => Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;

  /**
   * @param intervalMs milliseconds from one round to the next; the first begins after as many
   * @param run never rejects: what goes wrong is its own to tell
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

  /** Begins no further round; resolves when the one under way has ended. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }
}
