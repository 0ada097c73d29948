/** Shorter pieces are copied into blocks: besides its content, a Buffer takes about 500 bytes of memory. */
const smallBytes = 4 * 1024;
const minBlockBytes = 1024;
const maxBlockBytes = 64 * 1024;

/** Collects what arrives in pieces, in memory of at most about twice its length, however small the pieces are. */
export class ByteCollector {
  /** The first piece is kept as it is, because most often it's the only one. */
  #first: Buffer | undefined;
  /** Set from the second piece on. */
  #pieces: Buffer[] | undefined;
  /** Filled before anything follows it, so that no more than one block is partly empty. */
  #block: Buffer | undefined;
  #used = 0;
  #length = 0;

  /** Bytes collected. */
  get length(): number {
    return this.#length;
  }

  add(piece: Buffer): void {
    if (this.#first === undefined) this.#first = piece;
    else {
      this.#pieces ??= [this.#first];
      this.#append(piece, this.#pieces);
    }
    this.#length += piece.length;
  }

  #append(piece: Buffer, pieces: Buffer[]): void {
    let rest = piece;
    if (this.#block !== undefined) {
      const copied = piece.copy(this.#block, this.#used);
      this.#used += copied;
      if (this.#used < this.#block.length) return;
      pieces.push(this.#block);
      this.#block = undefined;
      rest = piece.subarray(copied);
    }
    if (rest.length >= smallBytes) pieces.push(rest);
    else if (rest.length > 0) {
      const bytes = Math.min(Math.max(minBlockBytes, rest.length, this.#length), maxBlockBytes);
      this.#block = Buffer.allocUnsafeSlow(bytes);
      this.#used = rest.copy(this.#block);
      if (this.#used === bytes) {
        pieces.push(this.#block);
        this.#block = undefined;
      }
    }
  }

  /** What was collected, without joining it; the collector is empty afterwards. */
  takePieces(): Buffer[] {
    const pieces = this.#pieces ?? (this.#first === undefined ? [] : [this.#first]);
    if (this.#block !== undefined) pieces.push(this.#block.subarray(0, this.#used));
    this.clear();
    return pieces;
  }

  /** What was collected; the collector is empty afterwards. */
  take(): Buffer {
    if (this.#pieces !== undefined || this.#first === undefined)
      return Buffer.concat(this.takePieces());
    const whole = this.#first;
    this.clear();
    return whole;
  }

  clear(): void {
    this.#first = undefined;
    this.#pieces = undefined;
    this.#block = undefined;
    this.#length = 0;
  }
}
