import { type Holding, Limiter } from '../../../base/fairness/limiter.ts';
import { policies } from '../../../base/fairness/policies.ts';
import type { AccountId } from '../../../base/values/ids.ts';

/** Limits the imports of this process and stops them at shutdown. */
export class RunningImports {
  readonly #stopping = new AbortController();
  readonly #running = new Set<Promise<void>>();
  /** Each import needs a few megabytes of memory and its file size on disk. */
  readonly #slots = new Limiter(policies.imports);

  /** Aborts at shutdown; an import then keeps the rows written so far and reports that it was interrupted. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Reserves a slot for an incoming file. @returns undefined if the account has its share or none is free */
  acquire(accountId: AccountId): Holding | undefined {
    return this.#slots.tryAcquire(accountId);
  }

  /** Holds the slot until the import ends. @param running never rejects */
  track(slot: Holding, running: Promise<void>): void {
    const tracked = running.finally(() => {
      this.#running.delete(tracked);
      slot.release();
    });
    this.#running.add(tracked);
  }

  /** Stops running imports and waits until their state is saved. No imports may start afterwards. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#running);
  }
}
