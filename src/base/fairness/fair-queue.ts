const due: (() => void)[] = [];

/**
 * Runs a callback after all input of this event loop turn has been read, but before long-running work of this turn
 * (`TurnQueue`). It must not throw.
 */
export function atEndOfTurn(run: () => void): void {
  if (due.push(run) === 1) setImmediate(endTurn);
}

/** Call before processor-intensive work. */
function endTurn(): void {
  for (const run of due.splice(0)) run();
}

/** A queue of groups that take turns (round-robin); each group is first in, first out. */
export class FairQueue<Item> {
  readonly #groups = new Map<string, Set<Item>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The number of waiting items of a group. */
  sizeOf(group: string): number {
    return this.#groups.get(group)?.size ?? 0;
  }

  add(group: string, item: Item): void {
    const members = this.#groups.get(group);
    if (members === undefined) this.#groups.set(group, new Set([item]));
    else members.add(item);
    this.#size += 1;
  }

  /** Removes an item that stopped waiting. */
  delete(group: string, item: Item): void {
    const members = this.#groups.get(group);
    if (members?.delete(item) !== true) return;
    this.#size -= 1;
    if (members.size === 0) this.#groups.delete(group);
  }

  /**
   * Removes and returns the next item.
   * @param isEligible asked with the group's first item; ineligible groups keep their turn
   */
  next(isEligible: (group: string, first: Item) => boolean = () => true): Item | undefined {
    for (const [group, members] of this.#groups) {
      const [item] = members;
      if (!isEligible(group, item as Item)) continue;
      this.#groups.delete(group);
      members.delete(item as Item);
      this.#size -= 1;
      if (members.size > 0) this.#groups.set(group, members);
      return item;
    }
    return undefined;
  }
}

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
