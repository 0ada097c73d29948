import type { FastifyReply } from 'fastify';
import { FairCapacity } from '../foundation/fair-capacity.ts';
import type { AccountId } from '../foundation/ids.ts';
import { Problem } from './answer/problem.ts';

/** Requests about accounts that a process answers at once; an account alone may have a third of them under way. */
const maxConcurrentRequests = 24;
/** Requests of one account that wait for a place. */
const maxWaitingRequests = 40;

/** Shares the management API between accounts: the reports and searches of one must not use up what all need. */
export class RequestShares {
  readonly #slots = new FairCapacity(maxConcurrentRequests);
  readonly #waiting = new Map<AccountId, (() => void)[]>();

  /**
   * Takes a place until the answer has ended, after those of the account that wait already.
   * @throws Problem where too many wait
   */
  async acquire(accountId: AccountId, reply: FastifyReply): Promise<void> {
    const queue = this.#waiting.get(accountId);
    if (queue === undefined && this.#slots.canAcquire(accountId)) this.#slots.acquire(accountId);
    else await this.#wait(accountId, queue ?? []);
    // Its client may have gone while it waited.
    if (reply.raw.closed) this.#release(accountId);
    else reply.raw.once('close', () => this.#release(accountId));
  }

  #wait(accountId: AccountId, queue: (() => void)[]): Promise<void> {
    if (queue.length >= maxWaitingRequests)
      throw new Problem(
        'too-many-requests',
        'Your account has too many requests under way; try again when one is answered',
        { retryAfter: 1 },
      );
    this.#waiting.set(accountId, queue);
    return new Promise((resolve) => queue.push(resolve));
  }

  #release(accountId: AccountId): void {
    this.#slots.release(accountId);
    for (const [waiting, queue] of [...this.#waiting]) {
      while (queue.length > 0 && this.#slots.canAcquire(waiting)) {
        this.#slots.acquire(waiting);
        queue.shift()?.();
      }
      if (queue.length === 0) this.#waiting.delete(waiting);
    }
  }
}
