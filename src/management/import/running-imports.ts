/** Files that a process imports at once; each needs a few megabytes. */
export const mostAtOnce = 4;

/** The imports of this process: how many there may be, and their end when the service stops. */
export class RunningImports {
  readonly #stopping = new AbortController();
  readonly #running = new Set<Promise<void>>();
  #free = mostAtOnce;

  /** Aborts when the service stops: an import ends then with the rows that it has, and says so. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Takes a place for a file that is coming in. @returns false where none is free */
  takePlace(): boolean {
    if (this.#free === 0) return false;
    this.#free -= 1;
    return true;
  }

  freePlace(): void {
    this.#free += 1;
  }

  /** Holds a place until an import has ended. @param running never rejects */
  hold(running: Promise<void>): void {
    const held = running.finally(() => {
      this.#running.delete(held);
      this.freePlace();
    });
    this.#running.add(held);
  }

  /** Ends the imports under way, whose state is in the database then; none may begin any more. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#running);
  }
}
