import { FairBytes } from './fair-bytes.ts';

const mebibyte = 1_024 * 1_024;
/** While others wait for memory, data that holds some must arrive at this rate. */
export const requiredPace = { bytesPerSecond: 512 * 1_024, graceSeconds: 5 };
/** How often to check for slow data, in milliseconds. */
export const paceCheckMs = 500;
/** A longer time between two checks is a stall of this process, not the sender's fault. */
const maxStepMs = 1_000;
/** Slow senders give up their memory one at a time, because the others then get faster: this long for each MiB. */
const evictionMsPerMebibyte = 100;

/**
 * Memory for data that arrives over the network. A group can't block others with data that arrives too slowly: while someone
 * waits, the data of the groups that hold the most must arrive at the required rate.
 */
export class PacedBytes extends FairBytes {
  #nextEvictionAt = 0;

  /**
   * Starts to measure data that arrives.
   * @param bytes how much memory it holds
   * @returns a function, to be called every `paceCheckMs`: true if it must make room for others, although these bytes have
   *   arrived
   */
  startPace(group: string, bytes: () => number): (arrived: number) => boolean {
    let seenAt = performance.now();
    let elapsedMs = 0;
    return (arrived) => {
      const now = performance.now();
      elapsedMs += Math.min(now - seenAt, maxStepMs);
      seenAt = now;
      const seconds = elapsedMs / 1_000 - requiredPace.graceSeconds;
      if (arrived >= seconds * requiredPace.bytesPerSecond) return false;
      if (now < this.#nextEvictionAt || !this.isHoldingUp(group)) return false;
      this.#nextEvictionAt = now + (bytes() / mebibyte) * evictionMsPerMebibyte;
      return true;
    };
  }
}
