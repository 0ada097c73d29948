import { FairCapacity } from '../../foundation/fair-capacity.ts';
import type { AccountId } from '../../foundation/ids.ts';

/** Max concurrent imports per process; each needs a few megabytes of memory and its file size on disk. */
const maxImports = 8;

/** Limits the imports of this process and stops them at shutdown. */
export class RunningImports {
  readonly #stopping = new AbortController();
  readonly #running = new Set<Promise<void>>();
  readonly #slots = new FairCapacity(maxImports);

  /** Aborts at shutdown; an import then keeps the rows written so far and reports that it was interrupted. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Reserves a slot for an incoming file. @returns false if the account has used its share or none is free */
  acquireSlot(accountId: AccountId): boolean {
    if (!this.#slots.canAcquire(accountId)) return false;
    this.#slots.acquire(accountId);
    return true;
  }

  releaseSlot(accountId: AccountId): void {
    this.#slots.release(accountId);
  }

  /** Holds the slot until the import ends. @param running never rejects */
  track(accountId: AccountId, running: Promise<void>): void {
    const tracked = running.finally(() => {
      this.#running.delete(tracked);
      this.releaseSlot(accountId);
    });
    this.#running.add(tracked);
  }

  /** Stops running imports and waits until their state is saved. No imports may start afterwards. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#running);
  }
}
