/**
 * A number of places that accounts share: each may take one more while it holds less than half of what is free. An account
 * alone gets a third of them, and however many one holds, the next finds some.
 */
export class FairCapacity {
  readonly #capacity: number;
  readonly #held = new Map<string, number>();
  #taken = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** True where the account may take another place. */
  canAcquire(account: string): boolean {
    return (this.#held.get(account) ?? 0) < (this.#capacity - this.#taken) / 2;
  }

  /** Takes a place, asked or not. */
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
