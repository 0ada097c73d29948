import { createHmac } from 'node:crypto';
import { isIPv6 } from 'node:net';
import type { Clock } from '../foundation/clock.ts';
import type { MasterKey } from '../foundation/master-key.ts';
import type { PurposeKeys } from '../foundation/purpose-keys.ts';
import { SlowDown } from './oauth-errors.ts';
import type { CountedGuess, GuessSubject, WrongGuessStore } from './wrong-guess-store.ts';

const freePerPair = 5;
const freePerAddress = 30;
const freePerPerson = 20;

/**
 * Slows guessing down: per pair of person and address, and per address over all persons. A stranger elsewhere cannot
 * slow a person's own sign-in, since that is another pair. Unknown persons are counted like known ones. Codes of six digits
 * are counted per person too, wherever they come from: whoever may guess them has the password already, and addresses are
 * cheap (NIST SP 800-63B section 5.2.2).
 */
export class GuessGuard {
  readonly #store: WrongGuessStore;
  readonly #clock: Clock;
  readonly #keys: PurposeKeys;

  constructor(store: WrongGuessStore, key: MasterKey, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    // Counts are kept for an hour: with a new master key they begin anew.
    this.#keys = key.keysFor('wrong guesses');
  }

  /**
   * Lets a guess be checked, unless too many were wrong before.
   * @param whom names the person and what is guessed, as it was sent
   * @param check answers undefined for a wrong guess
   * @throws SlowDown, without checking, while the delay lasts
   */
  attempt<Proof>(
    whom: string,
    remoteAddress: string,
    check: () => Promise<Proof | undefined>,
  ): Promise<Proof | undefined> {
    return this.#attempt(whom, remoteAddress, check, []);
  }

  /** As `attempt`, for what is short enough to be guessed from many addresses. */
  attemptCode<Proof>(
    whom: string,
    remoteAddress: string,
    check: () => Promise<Proof | undefined>,
  ): Promise<Proof | undefined> {
    const person = { key: this.#name('person', whom), free: freePerPerson };
    return this.#attempt(whom, remoteAddress, check, [person]);
  }

  async #attempt<Proof>(
    whom: string,
    remoteAddress: string,
    check: () => Promise<Proof | undefined>,
    others: readonly GuessSubject[],
  ): Promise<Proof | undefined> {
    const network = networkOf(remoteAddress);
    const pair = { key: this.#name('pair', network, whom), free: freePerPair };
    const address = { key: this.#name('address', network), free: freePerAddress };
    const turn = await this.#store.count([pair, address, ...others], this.#clock.offset);
    if (turn.counted === undefined) throw slowDown(turn.wait);
    const proof = await this.#read(check, turn.counted);
    if (proof !== undefined) {
      // The wrong ones before it were this person's own; those of others at the same address, or elsewhere, still count.
      await this.#store.takeBack(turn.counted.filter(({ key }) => !key.equals(pair.key)));
      await this.#store.forget(pair.key);
    }
    return proof;
  }

  /** A guess that could not be read, since too many are, counts for nothing. */
  async #read<Proof>(
    check: () => Promise<Proof>,
    counted: readonly CountedGuess[],
  ): Promise<Proof> {
    try {
      return await check();
    } catch (cause) {
      await this.#store.takeBack(counted);
      throw cause;
    }
  }

  #name(...parts: readonly string[]): Buffer {
    return createHmac('sha256', this.#keys.current).update(parts.join('\0')).digest();
  }
}

function slowDown(seconds: number): SlowDown {
  return new SlowDown('Too many wrong attempts; try again later', Math.ceil(seconds));
}

/** The address, or the /64 network of an IPv6 one, which a single customer holds whole. */
export function networkOf(remoteAddress: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(remoteAddress)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(remoteAddress)) return remoteAddress;
  const [head = '', tail] = remoteAddress.split('%')[0]?.split('::') ?? [];
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0');
  const groups = [...left, ...(tail === undefined ? [] : zeros), ...right];
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
