/**
 * A number of places that accounts share: each may take one more while it holds less than half of what is free. An account
 * alone gets a third of them, and however many one holds, the next finds some.
 */
export class FairPlaces {
  readonly #places: number;
  readonly #held = new Map<string, number>();
  #taken = 0;

  constructor(places: number) {
    this.#places = places;
  }

  /** True where the account may take another place. */
  mayTake(account: string): boolean {
    return (this.#held.get(account) ?? 0) < (this.#places - this.#taken) / 2;
  }

  /** Takes a place, asked or not. */
  take(account: string): void {
    this.#held.set(account, (this.#held.get(account) ?? 0) + 1);
    this.#taken += 1;
  }

  free(account: string): void {
    const held = (this.#held.get(account) ?? 0) - 1;
    if (held > 0) this.#held.set(account, held);
    else this.#held.delete(account);
    this.#taken -= 1;
  }

  /** The accounts that have to wait. */
  get atLimit(): string[] {
    return [...this.#held.keys()].filter((account) => !this.mayTake(account));
  }
}
