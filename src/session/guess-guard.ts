import { createHmac, type KeyObject } from 'node:crypto';
import type { Clock } from '../foundation/clock.ts';
import type { MasterKey } from '../foundation/master-key.ts';
import { networkOf } from '../foundation/network-of.ts';
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
  readonly #key: KeyObject;

  constructor(store: WrongGuessStore, key: MasterKey, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    this.#key = key.derive('wrong guesses');
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
    return createHmac('sha256', this.#key).update(parts.join('\0')).digest();
  }
}

function slowDown(seconds: number): SlowDown {
  return new SlowDown('Too many wrong attempts; try again later', Math.ceil(seconds));
}
