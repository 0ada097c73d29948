import { setTimeout as delay } from 'node:timers/promises';

/** How long clients try again after the end. */
const giveUpDelayMs = 60_000;

/** Between the attempts of a client: the first pause, which doubles, and the longest. */
const retryDelayMs = { first: 500, max: 4_000 };

/** Hundreds of clients wait for the end of an outage, and new ones come all the time: those that don't back off delay it. */
export function retryPause(retries: number): number {
  const { first, max } = retryDelayMs;
  return Math.min(first * 2 ** retries, max) * (0.5 + Math.random() / 2);
}

/** Clients that begin at a steady rate, each with its own number, and go on by themselves. */
export class SteadyClients {
  readonly #open = new Set<Promise<void>>();
  readonly #loop: Promise<void>;
  #running = true;
  #givesUp = false;

  /** @param run one client; resolves when it has ended */
  constructor(perSecond: number, run: (number: number) => Promise<void>) {
    this.#loop = this.#begin(1_000 / perSecond, run);
  }

  /** Whether clients stop trying again. */
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
