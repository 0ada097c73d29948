/** Work that is done every so often, one round at a time: a round that takes longer than the interval has no second one beside it. */
export class PeriodicTask {
  readonly #every: number;
  readonly #round: () => Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;

  /**
   * @param every milliseconds from one round to the next; the first begins after as many
   * @param round never rejects: what goes wrong is its own to tell
   */
  constructor(every: number, round: () => Promise<void>) {
    this.#every = every;
    this.#round = round;
  }

  start(): void {
    this.#timer ??= setInterval(() => {
      this.#running ??= this.#round().finally(() => {
        this.#running = undefined;
      });
    }, this.#every).unref();
  }

  /** Begins no further round; resolves when the one under way has ended. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }
}
