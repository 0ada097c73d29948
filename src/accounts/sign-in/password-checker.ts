import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { verify } from '@node-rs/argon2';
import { Limiter, type Sharer } from '../../base/fairness/limiter.ts';
import { policies } from '../../base/fairness/policies.ts';
import { networksOf } from '../../base/network/ip-address.ts';
import { comparableAddress } from '../../base/values/email-address.ts';
import { Busy } from '../../base/values/errors.ts';
import { hashPassword, isOutdated, minPasswordMemory } from '../account/hash-password.ts';
import { belongsOnlyTo } from '../account/membership-store.ts';
import {
  findPersonByEmail,
  type PersonWithPassword,
  renewPasswordHash,
} from '../account/person-store.ts';
import { TemporarilyUnavailable } from '../oauth/oauth-errors.ts';
import type { GuessOrigin, LoginThrottle } from './login-throttle.ts';
import type { SessionModuleDependencies } from './session-dependencies.ts';
import { mustUseProvider } from './single-sign-on/account-provider-store.ts';

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

/** Longest possible email address (RFC 5321 section 4.5.3.1.3). */
const maxAddressLength = 254;

type ClientOrigin = Extract<GuessOrigin, { readonly kind: 'client' }>;

/** The origin of a password. Whether a client guesses a stranger's is for the authenticator to find out. */
type PasswordOrigin = Exclude<GuessOrigin, ClientOrigin> | Omit<ClientOrigin, 'isForeign'>;

/** The result of checking an address and a password. */
interface PasswordAuthentication {
  /** The authenticated person, or undefined. */
  readonly person: PersonWithPassword | undefined;
  /** The person with this address, authenticated or not; for the audit log only. */
  readonly claimed: PersonWithPassword | undefined;
  /** The password is correct, but the person must sign in with a provider. */
  readonly needsProvider: boolean;
}

/**
 * Authenticates people by address and password and throttles guessing; unknown people take the same time and get the
 * same response.
 */
export class PasswordAuthenticator {
  readonly #dependencies: SessionModuleDependencies;
  readonly #passwords: PasswordChecker;
  readonly #throttle: LoginThrottle;

  constructor(
    dependencies: SessionModuleDependencies,
    passwords: PasswordChecker,
    throttle: LoginThrottle,
  ) {
    this.#dependencies = dependencies;
    this.#passwords = passwords;
    this.#throttle = throttle;
  }

  /** @throws SlowDown if guesses come too fast, TemporarilyUnavailable if too many passwords are waiting */
  async authenticate(
    email: string,
    password: string,
    origin: PasswordOrigin,
  ): Promise<PasswordAuthentication> {
    const { database, facts } = this.#dependencies;
    const { kysely } = database;
    const address = comparableAddress(email.slice(0, maxAddressLength + 1));
    const find = async () =>
      address.length <= maxAddressLength ? await findPersonByEmail(kysely, address) : undefined;
    let claimed = origin.kind === 'client' ? await find() : undefined;
    const from = origin.kind === 'client' ? await this.#originOf(origin, claimed) : origin;
    const person = await this.#throttle.attempt(`password ${address}`, from, async () => {
      // A client's was looked up before, whether there is one or not.
      if (origin.kind !== 'client') claimed = await find();
      const matches = await this.#passwords.check(claimed?.passwordHash, password, from);
      return matches && claimed?.disabled === false ? claimed : undefined;
    });
    if (person === undefined) return { person, claimed, needsProvider: false };
    if (await mustUseProvider(kysely, person.id, facts.provider))
      return { person: undefined, claimed, needsProvider: true };
    const passwordHash = await this.#renewHash(person, password, from);
    const current = passwordHash === undefined ? undefined : { ...person, passwordHash };
    return { person: current, claimed, needsProvider: false };
  }

  /**
   * Any account can have clients. Its client may guess without being refused only for the account's own users; a password that
   * opens more is guarded as on the sign-in page (ASVS 4.0.3 2.2.1).
   */
  async #originOf(
    origin: PasswordOrigin & { readonly kind: 'client' },
    claimed: PersonWithPassword | undefined,
  ): Promise<GuessOrigin> {
    const { kysely } = this.#dependencies.database;
    const isOwn = claimed && (await belongsOnlyTo(kysely, claimed.id, origin.accountId));
    return { ...origin, isForeign: isOwn !== true };
  }

  /**
   * Only now is the password known, so that a hash with less work than today's can be replaced.
   * @returns the hash that the person has now, which tokens are issued for; undefined if the password was changed meanwhile
   */
  async #renewHash(
    person: PersonWithPassword,
    password: string,
    origin: GuessOrigin,
  ): Promise<string | undefined> {
    const { kysely } = this.#dependencies.database;
    try {
      const renewed = await this.#passwords.renew(person.passwordHash ?? '', password, person.id);
      if (renewed === undefined) return person.passwordHash;
      if (await renewPasswordHash(kysely, person, renewed)) return renewed;
      // Another sign-in renewed it, or the password was changed.
      const current = (await findPersonByEmail(kysely, person.email))?.passwordHash;
      return (await this.#passwords.check(current, password, origin)) ? current : undefined;
    } catch (error) {
      // The next sign-in renews it.
      if (error instanceof TemporarilyUnavailable) return person.passwordHash;
      throw error;
    }
  }
}
