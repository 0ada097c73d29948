import { setTimeout as delay } from 'node:timers/promises';

/** How long clients keep retrying after the end. */
const giveUpDelayMs = 60_000;

/** A client's first pause between attempts, which doubles, and the max. */
const retryDelayMs = { first: 500, max: 4_000 };

/** During an outage, hundreds of clients wait and new ones keep arriving: without backoff, they would prolong it. */
export function retryPause(retries: number): number {
  const { first, max } = retryDelayMs;
  return Math.min(first * 2 ** retries, max) * (0.5 + Math.random() / 2);
}

/** Clients that start at a steady rate, each with its own number, and run independently. */
export class SteadyClients {
  readonly #open = new Set<Promise<void>>();
  readonly #loop: Promise<void>;
  #running = true;
  #givesUp = false;

  /** @param run one client; resolves when it has ended */
  constructor(perSecond: number, run: (number: number) => Promise<void>) {
    this.#loop = this.#begin(1_000 / perSecond, run);
  }

  /** Whether clients stop retrying. */
  get giveUp(): boolean {
    return this.#givesUp;
  }

  /** Resolves once every client has ended. */
  async stop(): Promise<void> {
    this.#running = false;
    await this.#loop;
    const giveUp = setTimeout(() => {
      this.#givesUp = true;
    }, giveUpDelayMs);
    await Promise.all(this.#open);
    clearTimeout(giveUp);
  }

  async #begin(intervalMs: number, run: (number: number) => Promise<void>): Promise<void> {
    for (let number = 0; this.#running; number += 1) {
      const running: Promise<void> = run(number).finally(() => this.#open.delete(running));
      this.#open.add(running);
      await delay(intervalMs);
    }
  }
}
