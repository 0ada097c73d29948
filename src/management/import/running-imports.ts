import { FairCapacity } from '../../foundation/fair-capacity.ts';
import type { AccountId } from '../../foundation/ids.ts';

/** Files that a process imports at once, those of all accounts; each needs a few megabytes of memory, and its size on disk. */
const maxImports = 8;

/** The imports of this process: how many there may be, and their end when the service stops. */
export class RunningImports {
  readonly #stopping = new AbortController();
  readonly #running = new Set<Promise<void>>();
  readonly #slots = new FairCapacity(maxImports);

  /** Aborts when the service stops: an import ends then with the rows that it has, and says so. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Takes a place for a file that is coming in. @returns false where the account has its share, or none is free */
  acquireSlot(accountId: AccountId): boolean {
    if (!this.#slots.canAcquire(accountId)) return false;
    this.#slots.acquire(accountId);
    return true;
  }

  releaseSlot(accountId: AccountId): void {
    this.#slots.release(accountId);
  }

  /** Holds a place until an import has ended. @param running never rejects */
  track(accountId: AccountId, running: Promise<void>): void {
    const tracked = running.finally(() => {
      this.#running.delete(tracked);
      this.releaseSlot(accountId);
    });
    this.#running.add(tracked);
  }

  /** Ends the imports under way, whose state is in the database then; none may begin any more. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#running);
  }
}
