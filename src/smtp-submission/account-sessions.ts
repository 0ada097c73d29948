import type { AccountId } from '../foundation/ids.ts';

/** Counts open sessions by account, so one account can't use up the sessions of others. */
export class AccountSessions {
  readonly #max: number;
  readonly #open = new Map<AccountId, number>();

  /** @param max per account */
  constructor(max: number) {
    this.#max = max;
  }

  /** @returns a function that releases the session; undefined if the account has reached its max */
  acquire(accountId: AccountId): (() => void) | undefined {
    const open = this.#open.get(accountId) ?? 0;
    if (open >= this.#max) return undefined;
    this.#open.set(accountId, open + 1);
    let released = false;
    return () => {
      if (released) return;
      released = true;
      const left = (this.#open.get(accountId) ?? 0) - 1;
      if (left > 0) this.#open.set(accountId, left);
      else this.#open.delete(accountId);
    };
  }
}
