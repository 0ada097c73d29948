import { setTimeout as delay } from 'node:timers/promises';

/** Does a piece of a window's work. */
export type Pace = (piece: () => Promise<void>) => Promise<void>;

/** One piece right after the other: for whoever waits for the end, or is far behind. */
export const hurried: Pace = (piece) => piece();

/** Times as long as a piece took that is rested before the next one. */
const restForWork = 6;
/** Milliseconds that the rests of a window take at most. */
const longestRests = 600;

/**
 * Spreads the work of a window over the time until the next one: accepting and delivering share the processors with a little
 * of it always, not with all of it at once.
 * @param signal ends the rests
 */
export function unhurried(signal: AbortSignal): Pace {
  let left = longestRests;
  let owed = 0;
  return async (piece) => {
    if (owed > 0) await delay(owed, undefined, { signal }).catch(() => undefined);
    const begun = performance.now();
    await piece();
    owed = Math.min((performance.now() - begun) * restForWork, left);
    left -= owed;
  };
}
