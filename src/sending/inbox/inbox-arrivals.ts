import type { Log } from '../../base/values/log.ts';

/** A message that was captured. */
export interface Arrival {
  readonly id: string;
  readonly envelopeTo: readonly string[];
}

/** Interval for polling mail that another node received, while anyone listens. */
const pollMs = 500;

/** How far back to poll: longer than a commit takes, so that no message is missed between polls. */
const overlapSeconds = 3;

export type InboxArrivals = ReturnType<typeof createInboxArrivals>;

/**
 * Notifies listeners of new mail: at once if this process received it, within one poll if another node did. A message
 * may be announced twice, but is never missed.
 * @param latest returns the messages of the last seconds
 */
export function createInboxArrivals(
  latest: (seconds: number) => Promise<readonly Arrival[]>,
  log: Log,
) {
  const listeners = new Set<(arrival: Arrival) => void>();
  /** Ids announced already, with the time when they can be forgotten. */
  const announced = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  return { listen, announce };

  /** Calls `listener` for every message until the returned function is called. */
  function listen(listener: (arrival: Arrival) => void): () => void {
    listeners.add(listener);
    schedule();
    return () => {
      listeners.delete(listener);
      if (listeners.size > 0) return;
      clearTimeout(timer);
      timer = undefined;
    };
  }

  /** Announces a committed message. */
  function announce(arrival: Arrival): void {
    if (listeners.size === 0 || announced.has(arrival.id)) return;
    announced.set(arrival.id, performance.now() + 2_000 * overlapSeconds);
    for (const listener of [...listeners]) listener(arrival);
  }

  function schedule(): void {
    if (timer !== undefined || listeners.size === 0) return;
    timer = setTimeout(() => {
      void poll().finally(() => {
        timer = undefined;
        schedule();
      });
    }, pollMs);
    timer.unref();
  }

  async function poll(): Promise<void> {
    const now = performance.now();
    for (const [id, until] of announced) if (until < now) announced.delete(id);
    try {
      for (const arrival of await latest(overlapSeconds)) announce(arrival);
    } catch (error) {
      log.debug({ err: error }, 'could not check the inbox for new mail');
    }
  }
}
