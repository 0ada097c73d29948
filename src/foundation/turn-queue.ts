import { endTurn } from './end-of-turn.ts';
import { FairLine } from './fair-line.ts';

/**
 * Gives out turns of the event loop one by one: work that keeps the processor busy for a while, done after `next`, leaves
 * room between two pieces for what has come over the network meanwhile.
 */
export class TurnQueue {
  readonly #waiting = new FairLine<() => void>();
  #scheduled = false;

  /** Resolves in a turn that nobody else was given. @param group groups take turns */
  next(group: string): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.add(group, resolve);
      if (!this.#scheduled) this.#schedule();
    });
  }

  #schedule(): void {
    this.#scheduled = true;
    setImmediate(() => {
      const first = this.#waiting.next();
      this.#scheduled = false;
      if (this.#waiting.size > 0) this.#schedule();
      endTurn();
      first?.();
    });
  }
}
