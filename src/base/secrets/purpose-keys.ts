import type { KeyObject } from 'node:crypto';

/** The keys of one purpose. Holders follow a rotation of the master key at run time. */
export class PurposeKeys {
  #current: KeyObject;
  #others: readonly KeyObject[];

  constructor(current: KeyObject, others: readonly KeyObject[] = []) {
    this.#current = current;
    this.#others = others;
  }

  /** The key for everything new. */
  get current(): KeyObject {
    return this.#current;
  }

  /** Additional accepted keys during a rotation; otherwise none. */
  get others(): readonly KeyObject[] {
    return this.#others;
  }

  replace(current: KeyObject, others: readonly KeyObject[]): void {
    this.#current = current;
    this.#others = others;
  }

  /** The first result, trying the current key first and the others only if needed. */
  find<Value>(attempt: (key: KeyObject) => Value | undefined): Value | undefined {
    const found = attempt(this.#current);
    if (found !== undefined || this.#others.length === 0) return found;
    for (const key of this.#others) {
      const older = attempt(key);
      if (older !== undefined) return older;
    }
    return undefined;
  }

  /** True if any key matches, trying the current one first. */
  some(accepts: (key: KeyObject) => boolean): boolean {
    return accepts(this.#current) || this.#others.some(accepts);
  }
}
