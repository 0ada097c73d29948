import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { verify } from '@node-rs/argon2';
import { hashPassword, isOutdated, minPasswordMemory } from '../account/hash-password.ts';
import { TemporarilyUnavailable } from './oauth-errors.ts';

/**
 * Concurrent password checks per node. More than two would starve the thread pool that everything else uses, and one
 * core stays free so that requests with tokens don't queue behind passwords.
 */
const maxConcurrentChecks = Math.min(2, Math.max(1, availableParallelism() - 1));
/** Passwords being checked or waiting; at 10 ms each, the last one waits a third of a second. */
const maxPendingChecks = 34;

/**
 * Checks passwords (argon2id), a few at a time. A person who does not exist or has no password costs the same work as
 * any other, so timing reveals nothing.
 */
export class PasswordChecker {
  readonly #maxConcurrent: number;
  readonly #maxWaiting: number;
  #running = 0;
  readonly #waiting: (() => void)[] = [];
  readonly #memory: number;
  readonly #dummyHash: Promise<string>;

  /**
   * @param processes number of processes that share the node's cores; each gets its share of the checks, at least one
   * @param memory MiB that hashing takes
   */
  constructor(processes = 1, memory = minPasswordMemory) {
    this.#memory = memory;
    this.#maxConcurrent = Math.max(1, Math.floor(maxConcurrentChecks / processes));
    this.#maxWaiting = Math.max(1, Math.floor(maxPendingChecks / processes) - this.#maxConcurrent);
    this.#dummyHash = hashPassword(randomBytes(16).toString('hex'), memory);
  }

  /**
   * @param passwordHash undefined if there is no such person or no password: the result is false
   * @throws TemporarilyUnavailable if too many passwords are waiting
   */
  check(passwordHash: string | undefined, password: string): Promise<boolean> {
    return this.#withSlot(async () => {
      const matches = await verify(passwordHash ?? (await this.#dummyHash), password);
      return matches && passwordHash !== undefined;
    });
  }

  /**
   * Hashes a new password in the same queue.
   * @throws TemporarilyUnavailable if too many passwords are waiting
   */
  hash(password: string): Promise<string> {
    return this.#withSlot(() => hashPassword(password, this.#memory));
  }

  /**
   * A new hash for a password whose hash was made when hashing took less work; undefined if it needs none.
   * @throws TemporarilyUnavailable if too many passwords are waiting
   */
  async renew(passwordHash: string, password: string): Promise<string | undefined> {
    return isOutdated(passwordHash, this.#memory) ? this.hash(password) : undefined;
  }

  async #withSlot<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.#acquireSlot();
    try {
      return await work();
    } finally {
      this.#releaseSlot();
    }
  }

  #acquireSlot(): Promise<void> | void {
    if (this.#running < this.#maxConcurrent) {
      this.#running += 1;
      return;
    }
    if (this.#waiting.length >= this.#maxWaiting)
      throw new TemporarilyUnavailable('Too many passwords are being checked; try again shortly');
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  /** Passes the slot to the next in line, or frees it. */
  #releaseSlot(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#running -= 1;
    else next();
  }
}
