import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { verify } from '@node-rs/argon2';
import { hashPassword, isOutdated, minPasswordMemory } from '../account/hash-password.ts';
import { Busy } from '../foundation/errors.ts';
import { Limiter, type Sharer } from '../foundation/limiter.ts';
import { networksOf } from '../foundation/network/ip-address.ts';
import { policies } from '../foundation/policies.ts';
import type { GuessOrigin } from './login-throttle.ts';
import { TemporarilyUnavailable } from './oauth-errors.ts';

/** One core stays free, so that requests with tokens don't queue behind passwords. */
const maxConcurrentChecks = Math.min(
  policies.passwords.total,
  Math.max(1, availableParallelism() - 1),
);

/**
 * Checks passwords (argon2id), a few at a time. A person who does not exist or has no password costs the same work as
 * any other, so timing reveals nothing. Who proved something before the password goes before strangers, whose networks take
 * turns: strangers' guesses hardly delay a program that has its client secret, and it can't lock them out either.
 */
export class PasswordChecker {
  readonly #slots: Limiter;
  readonly #memory: number;
  readonly #dummyHash: Promise<string>;

  /**
   * @param processes number of processes that share the node's cores; each gets its share of the checks, at least one
   * @param memory MiB that hashing takes
   */
  constructor(processes = 1, memory = minPasswordMemory) {
    this.#memory = memory;
    const concurrent = Math.max(1, Math.floor(maxConcurrentChecks / processes));
    this.#slots = new Limiter(policies.passwords, concurrent / policies.passwords.total);
    this.#dummyHash = hashPassword(randomBytes(16).toString('hex'), memory);
  }

  /**
   * @param passwordHash undefined if there is no such person or no password: the result is false
   * @throws TemporarilyUnavailable if too many passwords are waiting
   */
  check(passwordHash: string | undefined, password: string, origin: GuessOrigin): Promise<boolean> {
    const { sharer, first } = callerOf(origin);
    return this.#withSlot(sharer, first, async () => {
      const matches = await verify(passwordHash ?? (await this.#dummyHash), password);
      return matches && passwordHash !== undefined;
    });
  }

  /**
   * Hashes a new password in the same queue.
   * @param owner whose it is, as a link or a session proved
   * @throws TemporarilyUnavailable if too many passwords are waiting
   */
  hash(password: string, owner: string): Promise<string> {
    return this.#withSlot(owner, true, () => hashPassword(password, this.#memory));
  }

  /**
   * A new hash for a password whose hash was made when hashing took less work; undefined if it needs none.
   * @throws TemporarilyUnavailable if too many passwords are waiting
   */
  async renew(passwordHash: string, password: string, owner: string): Promise<string | undefined> {
    return isOutdated(passwordHash, this.#memory) ? this.hash(password, owner) : undefined;
  }

  async #withSlot<Result>(
    sharer: Sharer,
    first: boolean,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const { release } = await this.#slots.acquire(sharer, { first }).catch((cause: unknown) => {
      if (!(cause instanceof Busy)) throw cause;
      const message = 'Too many passwords are being checked; try again shortly';
      throw new TemporarilyUnavailable(message, { cause });
    });
    try {
      return await work();
    } finally {
      release();
    }
  }
}

/** Who shares, and whether something was proved before the password: a client secret, a session, a known browser. */
function callerOf(origin: GuessOrigin): { readonly sharer: Sharer; readonly first: boolean } {
  if (origin.kind === 'client') {
    const { clientId, accountId, isForeign } = origin;
    const kind = isForeign ? 'foreign' : 'own';
    return {
      sharer: [`${kind} client ${clientId}`, `${kind} account ${accountId}`],
      first: !isForeign,
    };
  }
  if (origin.kind === 'sign-in' && origin.device !== undefined)
    return { sharer: `device ${origin.device}`, first: true };
  const networks = networksOf(origin.remoteAddress);
  if (origin.kind !== 'session') return { sharer: networks, first: false };
  return { sharer: networks.map((network) => `session ${network}`), first: true };
}
