import { endTurn } from './end-of-turn.ts';
import { FairQueue } from './fair-queue.ts';

/** Work that took longer than this (in milliseconds) is followed by an equally long pause. */
const longWorkMs = 5;

/**
 * Schedules processor-intensive work one piece per event loop turn, so network input is handled in between; long pieces leave
 * half of the time free.
 */
export class TurnQueue {
  readonly #waiting = new FairQueue<() => void>();
  #busy = false;

  /**
   * Runs work in a separate event loop turn.
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

  /** @param took duration of the previous turn, in milliseconds */
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
