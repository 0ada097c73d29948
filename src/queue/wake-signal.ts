/** A bell that one loop waits for: a ring while nobody waits is kept until the next wait. */
export class WakeSignal {
  #rung = false;
  #resolve: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  ring(): void {
    this.#rung = true;
    this.#resolve?.();
  }

  /** Resolves at the next ring, at once where one came since the last wait, or after `milliseconds`. */
  async wait(timeoutMs: number): Promise<void> {
    if (!this.#rung) {
      await new Promise<void>((resolve) => {
        this.#resolve = resolve;
        this.#timer = setTimeout(resolve, timeoutMs);
      });
      clearTimeout(this.#timer);
      this.#resolve = undefined;
    }
    this.#rung = false;
  }
}
