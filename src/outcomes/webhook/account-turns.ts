import { type Holding, Limiter, type Policy } from '../../base/fairness/limiter.ts';
import type { AccountId } from '../../base/values/ids.ts';

export interface AccountTurnsOptions {
  /** Pieces of work at the same time; accounts share them. */
  readonly policy: Policy;
  /** Pieces of one key at the same time. */
  readonly maxPerKey: number;
  /**
   * Takes the next piece of work of a key; one at a time.
   * @returns what to do, or undefined if there is nothing
   */
  claim(accountId: AccountId, key: string): Promise<(() => Promise<void>) | undefined>;
  onError(error: unknown, accountId: AccountId, key: string): void;
}

const firstPauseMs = 1_000;
const maxPauseMs = 60_000;

/** Runs pieces of work in turns: accounts take turns, and so do the keys of each. A key that fails pauses alone. */
export class AccountTurns {
  readonly #options: AccountTurnsOptions;
  readonly #shares: Limiter;
  /** In the order of their turns. */
  readonly #waiting = new Map<AccountId, Set<string>>();
  /** Pieces by key. */
  readonly #held = new Map<string, number>();
  readonly #claiming = new Set<string>();
  /** Keys that were added during their claim. */
  readonly #announced = new Set<string>();
  /** Keys whose last claim found nothing while a piece of them ran. */
  readonly #missed = new Set<string>();
  readonly #failures = new Map<string, { count: number; until: number }>();
  readonly #running = new Set<Promise<void>>();
  #stopped = false;

  constructor(options: AccountTurnsOptions) {
    this.#options = options;
    this.#shares = new Limiter(options.policy);
  }

  /** Signals that a key may have work. Without effect while it pauses. */
  add(accountId: AccountId, key: string): void {
    const failure = this.#failures.get(key);
    if (failure !== undefined && performance.now() < failure.until) return;
    if (this.#claiming.has(key)) this.#announced.add(key);
    else this.#queue(accountId, key);
    this.#start();
  }

  /** Begins nothing more, and waits for what runs. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#running);
  }

  #queue(accountId: AccountId, key: string): void {
    const keys = this.#waiting.get(accountId) ?? new Set();
    this.#waiting.set(accountId, keys.add(key));
  }

  #start(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const turn = this.#take(...next).finally(() => {
        this.#running.delete(turn);
        this.#start();
      });
      this.#running.add(turn);
    }
  }

  #next(): [AccountId, string, Holding] | undefined {
    if (this.#stopped) return undefined;
    for (const [accountId, keys] of this.#waiting) {
      const { maxPerKey } = this.#options;
      const key = [...keys].find((each) => (this.#held.get(each) ?? 0) < maxPerKey);
      const holding = key === undefined ? undefined : this.#shares.tryAcquire(accountId);
      if (key === undefined || holding === undefined) continue;
      keys.delete(key);
      this.#waiting.delete(accountId);
      if (keys.size > 0) this.#waiting.set(accountId, keys);
      return [accountId, key, holding];
    }
    return undefined;
  }

  async #take(accountId: AccountId, key: string, holding: Holding): Promise<void> {
    this.#held.set(key, (this.#held.get(key) ?? 0) + 1);
    let found = false;
    try {
      const work = await this.#claim(accountId, key);
      found = work !== undefined;
      await work?.();
    } catch (error) {
      this.#pause(key);
      this.#options.onError(error, accountId, key);
    }
    holding.release();
    const held = (this.#held.get(key) ?? 0) - 1;
    if (held > 0) this.#held.set(key, held);
    else this.#held.delete(key);
    // What a claim didn't find may have waited for a piece that has ended now.
    if (found && this.#missed.delete(key)) this.#queue(accountId, key);
    else if (!found && held > 0) this.#missed.add(key);
  }

  async #claim(accountId: AccountId, key: string): Promise<(() => Promise<void>) | undefined> {
    this.#claiming.add(key);
    const work = await this.#options
      .claim(accountId, key)
      .finally(() => this.#claiming.delete(key));
    this.#failures.delete(key);
    const isAnnounced = this.#announced.delete(key);
    if (work !== undefined || isAnnounced) {
      this.#queue(accountId, key);
      this.#start();
    }
    return work;
  }

  #pause(key: string): void {
    const count = (this.#failures.get(key)?.count ?? 0) + 1;
    const until = performance.now() + Math.min(firstPauseMs * 2 ** (count - 1), maxPauseMs);
    this.#failures.set(key, { count, until });
  }
}
