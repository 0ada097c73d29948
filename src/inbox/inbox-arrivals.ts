import type { Log } from '../foundation/log.ts';

/** What happened in the inbox. */
export type InboxEvent =
  | { readonly kind: 'arrived'; readonly envelopeTo: readonly string[] }
  | { readonly kind: 'emptied' };

interface Arrival {
  readonly id: string;
  readonly envelopeTo: readonly string[];
}

/** How often the database is asked for mail that another node received, while anybody listens. */
const pollMs = 500;

/** How far back it is asked: longer than a commit takes, so that none slips through between two questions. */
const overlapSeconds = 3;

/**
 * Tells who waits for mail that some arrived: at once where this process received it, within a poll where another
 * node did. A message may be told twice, never not at all.
 */
export class InboxArrivals {
  readonly #latest: (seconds: number) => Promise<readonly Arrival[]>;
  readonly #log: Log;
  readonly #listeners = new Set<(event: InboxEvent) => void>();
  /** Ids told already, with the time when they may be forgotten. */
  readonly #announced = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  /** @param latest asks for the messages of the last seconds */
  constructor(latest: (seconds: number) => Promise<readonly Arrival[]>, log: Log) {
    this.#latest = latest;
    this.#log = log;
  }

  /** Calls `listener` for everything that happens from here on, until the function that comes back is called. */
  listen(listener: (event: InboxEvent) => void): () => void {
    this.#listeners.add(listener);
    this.#schedule();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      clearTimeout(this.#timer);
      this.#timer = undefined;
    };
  }

  /** Says that a message was committed. */
  announce(arrival: Arrival): void {
    if (this.#listeners.size === 0 || this.#announced.has(arrival.id)) return;
    this.#announced.set(arrival.id, performance.now() + 2_000 * overlapSeconds);
    this.#notify({ kind: 'arrived', envelopeTo: arrival.envelopeTo });
  }

  /** Says that messages were deleted. */
  announceEmptied(): void {
    this.#notify({ kind: 'emptied' });
  }

  #notify(event: InboxEvent): void {
    for (const listener of [...this.#listeners]) listener(event);
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#listeners.size === 0) return;
    this.#timer = setTimeout(() => {
      void this.#poll().finally(() => {
        this.#timer = undefined;
        this.#schedule();
      });
    }, pollMs);
    this.#timer.unref();
  }

  async #poll(): Promise<void> {
    const now = performance.now();
    for (const [id, until] of this.#announced) if (until < now) this.#announced.delete(id);
    try {
      for (const arrival of await this.#latest(overlapSeconds)) this.announce(arrival);
    } catch (error) {
      this.#log.debug({ err: error }, 'the inbox cannot be asked for new mail');
    }
  }
}
