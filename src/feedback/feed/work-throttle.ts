import { setTimeout as delay } from 'node:timers/promises';

/** Does a piece of a window's work. */
export type WorkThrottle = (piece: () => Promise<void>) => Promise<void>;

/** One piece right after the other: for whoever waits for the end, or is far behind. */
export const unthrottled: WorkThrottle = (piece) => piece();

/** Times as long as a piece took that is rested before the next one. */
const restPerWork = 6;
/** Milliseconds that the rests of a window take at most. */
const maxRestMs = 600;

/**
 * Spreads the work of a window over the time until the next one: accepting and delivering share the processors with a little
 * of it always, not with all of it at once.
 * @param signal ends the rests
 */
export function throttled(signal: AbortSignal): WorkThrottle {
  let left = maxRestMs;
  let restMs = 0;
  return async (piece) => {
    if (restMs > 0) await delay(restMs, undefined, { signal }).catch(() => undefined);
    const begun = performance.now();
    await piece();
    restMs = Math.min((performance.now() - begun) * restPerWork, left);
    left -= restMs;
  };
}
