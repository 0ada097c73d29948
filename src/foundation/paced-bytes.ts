import { FairBytes } from './fair-bytes.ts';

const mebibyte = 1_024 * 1_024;
/** While others wait for memory, what holds some has to arrive this fast. */
export const requiredPace = { bytesPerSecond: 512 * 1_024, graceSeconds: 5 };
/** How often to ask whether something is late, in milliseconds. */
export const paceCheckMs = 500;
/** Longer times between two looks are a stall of this process, which is not the sender's fault. */
const maxStepMs = 1_000;
/** What is late gives way one after another, because the rest gets faster: this long for each MiB. */
const evictionMsPerMebibyte = 100;

/**
 * Memory for what arrives over the network. A group can't keep others waiting with data that hardly arrives: while somebody
 * waits, that of the groups that hold the most must keep a pace.
 */
export class PacedBytes extends FairBytes {
  #nextEvictionAt = 0;

  /**
   * Starts the clock of something that arrives.
   * @param bytes how much memory it holds
   * @returns a function, to be called every `paceCheckMs`: true if it must make room for others, though these bytes of it have
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
