/** A wake-up signal for one loop. A signal sent while the loop isn't waiting is kept for its next wait. */
export class WakeSignal {
  #rung = false;
  #resolve: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  ring(): void {
    this.#rung = true;
    this.#resolve?.();
  }

  /**
   * Resolves on the next signal, immediately if one came since the last wait, or after the timeout.
   * @returns true after a signal
   */
  async wait(timeoutMs: number): Promise<boolean> {
    if (!this.#rung) {
      await new Promise<void>((resolve) => {
        this.#resolve = resolve;
        this.#timer = setTimeout(resolve, timeoutMs);
      });
      clearTimeout(this.#timer);
      this.#resolve = undefined;
    }
    const rung = this.#rung;
    this.#rung = false;
    return rung;
  }
}
