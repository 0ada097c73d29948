import type { Log } from '../../base/values/log.ts';

/** Something that happened in the inbox. */
export type InboxEvent =
  | { readonly kind: 'arrived'; readonly envelopeTo: readonly string[] }
  | { readonly kind: 'emptied' };

interface Arrival {
  readonly id: string;
  readonly envelopeTo: readonly string[];
}

/** Interval for polling mail that another node received, while anyone listens. */
const pollMs = 500;

/** How far back to poll: longer than a commit takes, so that no message is missed between polls. */
const overlapSeconds = 3;

/**
 * Notifies listeners of new mail: at once if this process received it, within one poll if another node did. A message
 * may be announced twice, but is never missed.
 */
export class InboxArrivals {
  readonly #latest: (seconds: number) => Promise<readonly Arrival[]>;
  readonly #log: Log;
  readonly #listeners = new Set<(event: InboxEvent) => void>();
  /** Ids announced already, with the time when they can be forgotten. */
  readonly #announced = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  /** @param latest returns the messages of the last seconds */
  constructor(latest: (seconds: number) => Promise<readonly Arrival[]>, log: Log) {
    this.#latest = latest;
    this.#log = log;
  }

  /** Calls `listener` for every event until the returned function is called. */
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

  /** Announces a committed message. */
  announce(arrival: Arrival): void {
    if (this.#listeners.size === 0 || this.#announced.has(arrival.id)) return;
    this.#announced.set(arrival.id, performance.now() + 2_000 * overlapSeconds);
    this.#notify({ kind: 'arrived', envelopeTo: arrival.envelopeTo });
  }

  /** Announces that messages were deleted. */
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
      this.#log.debug({ err: error }, 'could not check the inbox for new mail');
    }
  }
}
