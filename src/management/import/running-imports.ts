import { FairPlaces } from '../../foundation/fair-places.ts';
import type { AccountId } from '../../foundation/ids.ts';

/** Files that a process imports at once, those of all accounts; each needs a few megabytes of memory, and its size on disk. */
export const maxImports = 8;

/** The imports of this process: how many there may be, and their end when the service stops. */
export class RunningImports {
  readonly #stopping = new AbortController();
  readonly #running = new Set<Promise<void>>();
  readonly #places = new FairPlaces(maxImports);

  /** Aborts when the service stops: an import ends then with the rows that it has, and says so. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Takes a place for a file that is coming in. @returns false where the account has its share, or none is free */
  takePlace(accountId: AccountId): boolean {
    if (!this.#places.mayTake(accountId)) return false;
    this.#places.take(accountId);
    return true;
  }

  freePlace(accountId: AccountId): void {
    this.#places.free(accountId);
  }

  /** Holds a place until an import has ended. @param running never rejects */
  hold(accountId: AccountId, running: Promise<void>): void {
    const held = running.finally(() => {
      this.#running.delete(held);
      this.freePlace(accountId);
    });
    this.#running.add(held);
  }

  /** Ends the imports under way, whose state is in the database then; none may begin any more. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#running);
  }
}
