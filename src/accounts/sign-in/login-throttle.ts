import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { shareAt } from '../../base/fairness/limiter.ts';
import { networksOf } from '../../base/network/ip-address.ts';
import type { MasterKey } from '../../base/secrets/master-key.ts';
import type { PurposeKeys } from '../../base/secrets/purpose-keys.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { AccountId, ClientId } from '../../base/values/ids.ts';
import { SlowDown } from '../oauth/oauth-errors.ts';
import type { CountedGuess, GuessSubject, WrongGuessStore } from './wrong-guess-store.ts';

const freePerPair = 5;
const freePerAddress = 30;
const freePerCodes = 20;
const freePerPerson = 30;
/**
 * Max delay between two password attempts for one person from unknown browsers: with the free attempts, fewer than a
 * hundred an hour (ASVS 2.2.1). A longer delay would let attackers lock the person out.
 */
const maxPersonDelaySeconds = 60;
/** Max seconds that a request waits here for its turn; if it would wait longer, it must retry. */
const maxHoldSeconds = 8;
/** Requests that can wait at once, per process. */
const maxHeldRequests = 64;
/** Delay of the response to a throttled client's wrong guess. */
const wrongGuessDelayMs = 250;
/** What must wait, per process: each is remembered without asking the database, for a second at most. */
const maxRefused = 10_000;
const refusalMs = 1_000;

/** The origin of a guess. Guesses of one kind never count against another. */
export type GuessOrigin =
  | {
      readonly kind: 'sign-in';
      readonly remoteAddress: string;
      /** Identifies the browser if the person signed in with it before. */
      readonly device: string | undefined;
      /** The connection to the sign-in provider whose sign-in asks for the second factor; undefined: the password was right. */
      readonly identityId?: string | undefined;
    }
  /** A signed-in browser that asks for the person's password or code again. */
  | { readonly kind: 'session'; readonly remoteAddress: string }
  | { readonly kind: 'link'; readonly remoteAddress: string }
  /** The token endpoint, after client authentication. */
  | {
      readonly kind: 'client';
      readonly clientId: ClientId;
      /** That the client belongs to. */
      readonly accountId: AccountId;
      readonly remoteAddress: string;
      /** The person isn't a user of this account alone, so the account may run the client to guess the password of a stranger. */
      readonly isForeign: boolean;
    };

/** Both in milliseconds of the monotonic clock. */
interface Refusal {
  readonly rememberedUntil: number;
  readonly freeAt: number;
}

type Check<Proof> = () => Promise<Proof | undefined>;

/**
 * Throttles guessing per pair of person and address, per address and the networks around it, and per person; unknown people are counted like
 * existing ones. It only delays, and browsers that the person signed in with before are counted separately (OWASP
 * device cookies), so attackers can't lock a person out.
 */
export class LoginThrottle {
  readonly #store: WrongGuessStore;
  readonly #keys: PurposeKeys;
  readonly #clock: Clock;
  readonly #sleep: (delayMs: number) => Promise<void>;
  /** When each key may be tried again, cached so that writes of a flood don't delay others. */
  readonly #refused = new LRUCache<string, Refusal>({ max: maxRefused });
  #held = 0;

  constructor(
    store: WrongGuessStore,
    key: MasterKey,
    clock: Clock,
    sleep: (delayMs: number) => Promise<void> = delay,
  ) {
    this.#store = store;
    this.#clock = clock;
    // Counts last an hour: with a new master key they start again.
    this.#keys = key.keysFor('wrong guesses');
    this.#sleep = sleep;
  }

  /**
   * Checks a guess, unless too many were wrong before. Guesses of an authenticated client for users of its own
   * account are always checked, so that a right one is never refused.
   * @param target names the person and what is guessed, as it was sent
   * @param check returns undefined for a wrong guess
   * @throws SlowDown while the delay lasts: without checking, or for a wrong guess of a client
   */
  async attempt<Proof>(
    target: string,
    origin: GuessOrigin,
    check: Check<Proof>,
  ): Promise<Proof | undefined> {
    const person = this.#personOf(target, origin);
    const subjects = this.#subjectsOf(target, origin);
    if (origin.kind === 'client' && !origin.isForeign)
      return this.#attemptOfClient([...subjects, person], check);
    // One total over all clients and the sign-in page.
    if (origin.kind === 'client')
      subjects.push(this.#personOf(target, { ...origin, kind: 'sign-in', device: undefined }));
    if (origin.kind === 'sign-in')
      // What a known browser guesses is taken from the person's total, which others' guesses can't keep it from.
      subjects.push(origin.device === undefined ? person : { ...person, countsOnly: true });
    return this.#attempt(subjects, check);
  }

  /** @throws SlowDown, after a delay, for a wrong guess after too many */
  async #attemptOfClient<Proof>(
    subjects: readonly GuessSubject[],
    check: Check<Proof>,
  ): Promise<Proof | undefined> {
    const proof = await check();
    const [own] = subjects;
    if (proof !== undefined) {
      if (own !== undefined) await this.#store.forget(own.key);
      return proof;
    }
    const immediate = subjects.map((subject) => ({ ...subject, hold: 0 }));
    const turn = await this.#store.count(immediate);
    if (turn.counted !== undefined) return undefined;
    await this.#hold(wrongGuessDelayMs);
    throw slowDown(turn.wait);
  }

  /**
   * Like `attempt`, for codes short enough to guess from many addresses. Delays per person are longer, because guessing
   * a code takes the password first (NIST SP 800-63B section 5.2.2). Whoever runs a sign-in provider needs no password, so guesses
   * after its sign-ins have counts of their own and delay nobody else.
   */
  attemptCode<Proof>(
    target: string,
    origin: GuessOrigin,
    check: Check<Proof>,
  ): Promise<Proof | undefined> {
    const identityId = origin.kind === 'sign-in' ? origin.identityId : undefined;
    const counted = identityId === undefined ? target : `${target} after ${identityId}`;
    const subjects = this.#subjectsOf(counted, origin);
    if (origin.kind !== 'sign-in' || origin.device === undefined)
      subjects.push({ key: this.#personOf(counted, origin).key, free: freePerCodes });
    return this.#attempt(subjects, check);
  }

  async #attempt<Proof>(
    subjects: readonly GuessSubject[],
    check: Check<Proof>,
  ): Promise<Proof | undefined> {
    const now = this.#clock.monotonic();
    const refusal = subjects
      .filter(({ countsOnly }) => countsOnly !== true)
      .map(({ key }) => this.#refused.get(nameOf(key)))
      .find((known) => known !== undefined && known.rememberedUntil > now);
    if (refusal !== undefined) throw slowDown((refusal.freeAt - now) / 1_000);
    const turn = await this.#store.count(subjects);
    if (turn.counted === undefined) {
      for (const { key, wait } of turn.refused)
        this.#refused.set(nameOf(key), {
          rememberedUntil: now + Math.min(wait * 1_000, refusalMs),
          freeAt: now + turn.wait * 1_000,
        });
      throw slowDown(turn.wait);
    }
    const { counted } = turn;
    if (turn.wait > 0 && !(await this.#hold(Math.ceil(turn.wait * 1_000)))) {
      await this.#store.retract(counted);
      throw slowDown(turn.wait);
    }
    const proof = await this.#runCheck(check, counted);
    const [own] = subjects;
    if (proof !== undefined && own !== undefined) {
      // The earlier wrong guesses were this person's own; those of others, from the same address or elsewhere, still
      // count.
      await this.#store.retract(counted.filter(({ key }) => !key.equals(own.key)));
      await this.#store.forget(own.key);
    }
    return proof;
  }

  /** Waits; returns false at once if too many are waiting. */
  async #hold(delayMs: number): Promise<boolean> {
    if (this.#held >= maxHeldRequests) return false;
    this.#held += 1;
    try {
      await this.#sleep(delayMs);
    } finally {
      this.#held -= 1;
    }
    return true;
  }

  /** If the check fails because of overload, the guess doesn't count. */
  async #runCheck<Proof>(
    check: () => Promise<Proof>,
    counted: readonly CountedGuess[],
  ): Promise<Proof> {
    try {
      return await check();
    } catch (cause) {
      await this.#store.retract(counted);
      throw cause;
    }
  }

  /** The first is the guesser's own. */
  #subjectsOf(target: string, origin: GuessOrigin): GuessSubject[] {
    if (origin.kind === 'sign-in' && origin.device !== undefined)
      return [{ key: this.#hashKey('device', origin.device, target), free: freePerPair }];
    const networks = networksOf(origin.remoteAddress);
    const scope = scopeOf(origin);
    return [
      { key: this.#hashKey('pair', scope, networks[0] ?? '', target), free: freePerPair },
      ...networks.map((network, level) => ({
        key: this.#hashKey('address', scope, network),
        free: shareAt(freePerAddress, level, networks.length),
      })),
    ];
  }

  #personOf(target: string, origin: GuessOrigin): GuessSubject {
    return {
      key: this.#hashKey('person', scopeOf(origin), target),
      free: freePerPerson,
      maxDelaySeconds: maxPersonDelaySeconds,
      hold: maxHoldSeconds,
    };
  }

  #hashKey(...parts: readonly string[]): Buffer {
    return this.#keys.sign(parts.join('\0'));
  }
}

function nameOf(key: Buffer): string {
  return key.toString('latin1');
}

function scopeOf(origin: GuessOrigin): string {
  return origin.kind === 'client' ? `client ${origin.clientId}` : origin.kind;
}

function slowDown(seconds: number): SlowDown {
  return new SlowDown('Too many wrong attempts; try again later', Math.ceil(seconds));
}
