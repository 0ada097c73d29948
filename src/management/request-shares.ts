import type { FastifyReply } from 'fastify';
import { FairPlaces } from '../foundation/fair-places.ts';
import type { AccountId } from '../foundation/ids.ts';
import { Problem } from './answer/problem.ts';

/** Requests about accounts that a process answers at once; an account alone may have a third of them under way. */
const maxUnderWay = 24;
/** Requests of one account that wait for a place. */
const maxWaiting = 40;

/** Shares the management API between accounts: the reports and searches of one must not use up what all need. */
export class RequestShares {
  readonly #places = new FairPlaces(maxUnderWay);
  readonly #waiting = new Map<AccountId, (() => void)[]>();

  /**
   * Takes a place until the answer has ended, after those of the account that wait already.
   * @throws Problem where too many wait
   */
  async take(accountId: AccountId, reply: FastifyReply): Promise<void> {
    const line = this.#waiting.get(accountId);
    if (line === undefined && this.#places.mayTake(accountId)) this.#places.take(accountId);
    else await this.#wait(accountId, line ?? []);
    // Its client may have gone while it waited.
    if (reply.raw.closed) this.#free(accountId);
    else reply.raw.once('close', () => this.#free(accountId));
  }

  #wait(accountId: AccountId, line: (() => void)[]): Promise<void> {
    if (line.length >= maxWaiting)
      throw new Problem(
        'too-many-requests',
        'Your account has too many requests under way; try again when one is answered',
        { retryAfter: 1 },
      );
    this.#waiting.set(accountId, line);
    return new Promise((resolve) => line.push(resolve));
  }

  #free(accountId: AccountId): void {
    this.#places.free(accountId);
    for (const [waiting, line] of [...this.#waiting]) {
      while (line.length > 0 && this.#places.mayTake(waiting)) {
        this.#places.take(waiting);
        line.shift()?.();
      }
      if (line.length === 0) this.#waiting.delete(waiting);
    }
  }
}
