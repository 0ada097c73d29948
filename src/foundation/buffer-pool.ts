/**
 * Large buffers that are used again: each new one costs hundreds of page faults, and garbage collections come with every few
 * of them. What they held before is still in them.
 */
export class BufferPool {
  readonly #maxFreeBytes: number;
  readonly #free = new Map<number, Buffer[]>();
  #freeBytes = 0;

  /** @param maxFreeBytes max bytes of the free buffers that are kept */
  constructor(maxFreeBytes: number) {
    this.#maxFreeBytes = maxFreeBytes;
  }

  /** @returns a buffer of exactly this length, perhaps the start of a longer one */
  take(length: number): Buffer {
    const size = roundUp(length);
    const buffer = this.#free.get(size)?.pop();
    if (buffer === undefined) return Buffer.allocUnsafeSlow(size).subarray(0, length);
    this.#freeBytes -= size;
    return Buffer.from(buffer.buffer, 0, length);
  }

  /** Nothing may read or write the buffer, which came from `take`, from now on. */
  recycle({ buffer }: Buffer): void {
    const size = buffer.byteLength;
    if (this.#freeBytes + size > this.#maxFreeBytes) return;
    this.#freeBytes += size;
    const free = this.#free.get(size);
    const whole = Buffer.from(buffer);
    if (free === undefined) this.#free.set(size, [whole]);
    else free.push(whole);
  }
}

/** Few sizes, so that buffers fit again; at most a quarter more. */
function roundUp(length: number): number {
  const step = Math.max(4_096, 2 ** (Math.floor(Math.log2(length)) - 2));
  return Math.ceil(length / step) * step;
}
