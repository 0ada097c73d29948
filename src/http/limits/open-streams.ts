import { FairCapacity } from '../../foundation/fair-capacity.ts';

/** Max requests per process that stay open to wait for something: event streams and long polls. */
const maxOpenStreams = 300;

/**
 * Slots for requests that stay open, shared fairly: one account gets at most a third of them, and others always find
 * some.
 */
export class OpenStreams {
  readonly #slots = new FairCapacity(maxOpenStreams);

  /**
   * Takes a slot.
   * @param group an account, or another group with its own share
   * @returns the function that gives it back, or undefined if the group has its share
   */
  open(group: string): (() => void) | undefined {
    if (!this.#slots.canAcquire(group)) return undefined;
    this.#slots.acquire(group);
    let isOpen = true;
    return () => {
      if (isOpen) this.#slots.release(group);
      isOpen = false;
    };
  }
}
