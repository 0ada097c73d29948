import type { AccountId } from '../foundation/ids.ts';

/** Round-robin queue of accounts that may have due messages. */
export class AccountRing {
  readonly #waiting = new Set<AccountId>();

  get size(): number {
    return this.#waiting.size;
  }

  /** Adds an account at the end unless it is already queued. */
  add(accountId: AccountId): void {
    this.#waiting.add(accountId);
  }

  /** Removes and returns the next account. */
  next(): AccountId | undefined {
    const [first] = this.#waiting;
    if (first !== undefined) this.#waiting.delete(first);
    return first;
  }
}
