import { endTurn } from './end-of-turn.ts';
import { FairQueue } from './fair-queue.ts';

/** Milliseconds; a piece of work that took more is followed by a pause as long. */
const longWorkMs = 5;

/**
 * Gives out turns of the event loop one by one: work that keeps the processor busy for a while leaves room between two pieces
 * for what has come over the network meanwhile, and long pieces leave it half of the time.
 */
export class TurnQueue {
  readonly #waiting = new FairQueue<() => void>();
  #busy = false;

  /**
   * Runs work in a turn that nobody else was given.
   * @param group groups take turns
   */
  async run<Result>(group: string, work: () => Result): Promise<Result> {
    await new Promise<void>((resolve) => {
      this.#waiting.add(group, resolve);
      if (!this.#busy) this.#schedule(0);
    });
    const began = performance.now();
    try {
      return work();
    } finally {
      if (this.#waiting.size > 0) this.#schedule(performance.now() - began);
      else this.#busy = false;
    }
  }

  /** @param took milliseconds of the turn before */
  #schedule(took: number): void {
    this.#busy = true;
    const giveTurn = (): void => {
      const first = this.#waiting.next();
      endTurn();
      first?.();
    };
    if (took > longWorkMs) setTimeout(giveTurn, took);
    else setImmediate(giveTurn);
  }
}
