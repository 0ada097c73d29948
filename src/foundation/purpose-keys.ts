import type { KeyObject } from 'node:crypto';

/** The keys of one purpose. Those who hold them follow a rotation of the master key while they run. */
export class PurposeKeys {
  #current: KeyObject;
  #others: readonly KeyObject[];

  constructor(current: KeyObject, others: readonly KeyObject[] = []) {
    this.#current = current;
    this.#others = others;
  }

  /** Makes new things. */
  get current(): KeyObject {
    return this.#current;
  }

  /** Accepted besides, while the master key is being rotated; else none. */
  get others(): readonly KeyObject[] {
    return this.#others;
  }

  replace(current: KeyObject, others: readonly KeyObject[]): void {
    this.#current = current;
    this.#others = others;
  }

  /** What the first key finds, the current one first; the others cost nothing where it finds something. */
  find<Value>(attempt: (key: KeyObject) => Value | undefined): Value | undefined {
    const found = attempt(this.#current);
    if (found !== undefined || this.#others.length === 0) return found;
    for (const key of this.#others) {
      const older = attempt(key);
      if (older !== undefined) return older;
    }
    return undefined;
  }

  /** True where a key accepts; the current one is asked first. */
  some(accepts: (key: KeyObject) => boolean): boolean {
    return accepts(this.#current) || this.#others.some(accepts);
  }
}
