import { setTimeout as delay } from 'node:timers/promises';

/** Runs one batch of a window's work. */
export type WorkThrottle = (piece: () => Promise<void>) => Promise<void>;

/** Runs batches back to back, for callers that wait for the result or are far behind. */
export const unthrottled: WorkThrottle = (piece) => piece();

/** Rest after a batch, as a multiple of the time the batch took. */
const restPerWork = 6;
/** Max total rest per window, in milliseconds. */
const maxRestMs = 600;

/**
 * Spreads a window's work over the time until the next one, so that it doesn't compete with accepting and delivering
 * all at once.
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
