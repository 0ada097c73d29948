import type { FastifyReply } from 'fastify';
import { FairCapacity } from '../foundation/fair-capacity.ts';
import type { AccountId } from '../foundation/ids.ts';
import { Problem } from './answer/problem.ts';

/** Max concurrent account requests per process; one account gets at most a third. */
const maxConcurrentRequests = 24;
/** Max queued requests per account. */
const maxWaitingRequests = 40;

/** Shares the management API fairly, so one account's reports and searches can't starve the others. */
export class RequestShares {
  readonly #slots = new FairCapacity(maxConcurrentRequests);
  readonly #waiting = new Map<AccountId, (() => void)[]>();

  /**
   * Holds a slot until the response ends. Requests of one account are served in order.
   * @throws Problem if the account's queue is full
   */
  async acquire(accountId: AccountId, reply: FastifyReply): Promise<void> {
    const queue = this.#waiting.get(accountId);
    if (queue === undefined && this.#slots.canAcquire(accountId)) this.#slots.acquire(accountId);
    else await this.#wait(accountId, queue ?? []);
    // The client may have disconnected while waiting.
    if (reply.raw.closed) this.#release(accountId);
    else reply.raw.once('close', () => this.#release(accountId));
  }

  #wait(accountId: AccountId, queue: (() => void)[]): Promise<void> {
    if (queue.length >= maxWaitingRequests)
      throw new Problem(
        'too-many-requests',
        'Your account has too many concurrent requests. Retry when one completes',
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
