import { createHmac, type KeyObject } from 'node:crypto';
import { isIPv6 } from 'node:net';
import type { Clock } from '../foundation/clock.ts';
import type { MasterKey } from '../foundation/master-key.ts';
import { SlowDown } from './oauth-errors.ts';
import type { WrongGuessStore } from './wrong-guess-store.ts';

/** Whose guesses are counted together, and how many wrong ones cost nothing. */
interface Subject {
  readonly key: Buffer;
  readonly free: number;
  /** Whether a right guess proves that the wrong ones before it were this person's own. */
  readonly forgiven: boolean;
}

const freePerPair = 5;
const freePerAddress = 30;

/**
 * Slows guessing down: per pair of person and address, and per address over all persons. A stranger elsewhere cannot
 * slow a person's own sign-in, since that is another pair. Unknown persons are counted like known ones.
 */
export class GuessGuard {
  readonly #store: WrongGuessStore;
  readonly #clock: Clock;
  readonly #key: KeyObject;
  readonly #underWay = new Map<string, number>();

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
  async attempt<Proof>(
    whom: string,
    remoteAddress: string,
    check: () => Promise<Proof | undefined>,
  ): Promise<Proof | undefined> {
    const network = networkOf(remoteAddress);
    const subjects: Subject[] = [
      { key: this.#name('pair', network, whom), free: freePerPair, forgiven: true },
      { key: this.#name('address', network), free: freePerAddress, forgiven: false },
    ];
    const failures = await this.#requireTurn(subjects);
    const leave = this.#enter(subjects, failures);
    try {
      const proof = await check();
      await this.#remember(subjects, failures, proof !== undefined);
      return proof;
    } finally {
      leave();
    }
  }

  async #requireTurn(subjects: readonly Subject[]): Promise<readonly number[]> {
    const keys = subjects.map(({ key }) => key);
    const states = await this.#store.read(keys, this.#clock.offset);
    const wait = Math.max(0, ...states.map((state) => state.wait));
    if (wait > 0) throw slowDown(wait);
    return keys.map((key) => states.find((state) => state.key.equals(key))?.failures ?? 0);
  }

  /** Guesses under way count as wrong until they prove right, so that many at once get no further than one by one. */
  #enter(subjects: readonly Subject[], failures: readonly number[]): () => void {
    const names = subjects.map(({ key }) => key.toString('base64'));
    names.forEach((name, index) => {
      const room = Math.max(1, (subjects[index]?.free ?? 0) - (failures[index] ?? 0));
      if ((this.#underWay.get(name) ?? 0) >= room) throw slowDown(1);
    });
    for (const name of names) this.#underWay.set(name, (this.#underWay.get(name) ?? 0) + 1);
    return () => {
      for (const name of names) {
        const left = (this.#underWay.get(name) ?? 1) - 1;
        if (left === 0) this.#underWay.delete(name);
        else this.#underWay.set(name, left);
      }
    };
  }

  async #remember(
    subjects: readonly Subject[],
    failures: readonly number[],
    right: boolean,
  ): Promise<void> {
    for (const [index, { key, free, forgiven }] of subjects.entries()) {
      if (!right) await this.#store.add(key, free, this.#clock.offset);
      else if (forgiven && (failures[index] ?? 0) > 0) await this.#store.forget(key);
    }
  }

  #name(...parts: readonly string[]): Buffer {
    return createHmac('sha256', this.#key).update(parts.join('\0')).digest();
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
