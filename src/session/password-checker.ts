import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { verify } from '@node-rs/argon2';
import { hashPassword } from '../account/hash-password.ts';
import { TemporarilyUnavailable } from './oauth-errors.ts';

/**
 * Passwords that a node checks at the same time. More than two would starve the threads that everything else waits for, and
 * one core stays free of them: where all are taken, whoever has a token waits for the scheduler as long as for a password.
 */
const maxConcurrentChecks = Math.min(2, Math.max(1, availableParallelism() - 1));
/** Passwords that are checked or wait; at 10 ms each the last one has its answer after a third of a second at most. */
const maxPendingChecks = 34;

/**
 * Checks passwords (argon2id), a few at a time. A person who does not exist or has no password costs the same work
 * as any other, so that time does not tell them apart.
 */
export class PasswordChecker {
  readonly #maxConcurrent: number;
  readonly #maxWaiting: number;
  #running = 0;
  readonly #waiting: (() => void)[] = [];
  readonly #dummyHash: Promise<string>;

  /** @param processes how many processes share the node's cores: each takes its share of the work, at least one at a time */
  constructor(processes = 1) {
    this.#maxConcurrent = Math.max(1, Math.floor(maxConcurrentChecks / processes));
    this.#maxWaiting = Math.max(1, Math.floor(maxPendingChecks / processes) - this.#maxConcurrent);
    this.#dummyHash = hashPassword(randomBytes(16).toString('hex'));
  }

  /**
   * @param passwordHash undefined where there is no such person, or one without a password: then the answer is false
   * @throws TemporarilyUnavailable where too many passwords wait already
   */
  check(passwordHash: string | undefined, password: string): Promise<boolean> {
    return this.#withSlot(async () => {
      const matches = await verify(passwordHash ?? (await this.#dummyHash), password);
      return matches && passwordHash !== undefined;
    });
  }

  /**
   * What is stored for a new password; made in the same line.
   * @throws TemporarilyUnavailable where too many passwords wait already
   */
  hash(password: string): Promise<string> {
    return this.#withSlot(() => hashPassword(password));
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

  /** Hands the place to the next one in line, or frees it. */
  #releaseSlot(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#running -= 1;
    else next();
  }
}
