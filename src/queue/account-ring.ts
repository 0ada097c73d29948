import type { AccountId } from '../foundation/ids.ts';

/** Accounts that may have due messages, each of which gets its turn before any gets a second one. */
export class AccountRing {
  readonly #waiting = new Set<AccountId>();

  get size(): number {
    return this.#waiting.size;
  }

  /** Puts an account at the end, unless it waits already. */
  add(accountId: AccountId): void {
    this.#waiting.add(accountId);
  }

  /** Takes the account whose turn it is. */
  next(): AccountId | undefined {
    const [first] = this.#waiting;
    if (first !== undefined) this.#waiting.delete(first);
    return first;
  }
}
