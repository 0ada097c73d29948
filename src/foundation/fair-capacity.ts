/**
 * Slots that accounts share fairly: an account can take another while it holds less than half of the free ones. A single
 * account gets a third of all slots, and the next one always finds some.
 */
export class FairCapacity {
  readonly #capacity: number;
  readonly #held = new Map<string, number>();
  #taken = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** True if the account can take another slot. */
  canAcquire(account: string): boolean {
    return (this.#held.get(account) ?? 0) < (this.#capacity - this.#taken) / 2;
  }

  /** Takes a slot without checking `canAcquire`. */
  acquire(account: string): void {
    this.#held.set(account, (this.#held.get(account) ?? 0) + 1);
    this.#taken += 1;
  }

  release(account: string): void {
    const held = (this.#held.get(account) ?? 0) - 1;
    if (held > 0) this.#held.set(account, held);
    else this.#held.delete(account);
    this.#taken -= 1;
  }

  /** The accounts that have to wait. */
  get atLimit(): string[] {
    return [...this.#held.keys()].filter((account) => !this.canAcquire(account));
  }
}
