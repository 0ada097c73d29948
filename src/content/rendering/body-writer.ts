import { MAX_RENDERED_BYTES } from '../template/template-limits.ts';
import type { BodyPiece, StaticText } from './load-template.ts';

/** A body exceeds the maximum size; `renderMessage` turns this into a `RenderingTooLarge` that names the field. */
export class BodyTooLarge extends Error {
  override name = 'BodyTooLarge';
}

/** UTF-8 takes at most three bytes for one UTF-16 unit. */
const maxBytesPerUnit = 3;

/** Collects the pieces of a body and throws before it stores one that exceeds the limit. */
export class BodyWriter {
  readonly pieces: BodyPiece[] = [];
  readonly #maxBytes: number;
  /** Never less than the bytes of all pieces, and exact for those before `#counted`. */
  #upperBoundBytes = 0;
  #exactBytes = 0;
  #counted = 0;

  constructor(maxBytes = MAX_RENDERED_BYTES) {
    this.#maxBytes = maxBytes;
  }

  addStatic(text: StaticText): void {
    this.#add(text, text.quotedPrintable.octets);
  }

  addText(text: string): void {
    this.#add(text, text.length * maxBytesPerUnit);
  }

  /** Call this before escaping a value, which never shortens it. */
  requireCapacityFor(value: string): void {
    if (value.length > this.#maxBytes) throw new BodyTooLarge();
  }

  #add(piece: BodyPiece, upperBoundBytes: number): void {
    // A list can repeat fields that are empty without end, as far as bytes go.
    if (piece === '') return;
    this.pieces.push(piece);
    this.#upperBoundBytes += upperBoundBytes;
    if (this.#upperBoundBytes > this.#maxBytes) this.#count();
  }

  /** Most bodies are far below the limit, so bytes are counted only once the estimate exceeds it. */
  #count(): void {
    for (; this.#counted < this.pieces.length; this.#counted += 1) {
      const piece = this.pieces[this.#counted];
      if (piece !== undefined) this.#exactBytes += bytesOf(piece);
    }
    this.#upperBoundBytes = this.#exactBytes;
    if (this.#exactBytes <= this.#maxBytes) return;
    this.pieces.pop();
    throw new BodyTooLarge();
  }
}

function bytesOf(piece: BodyPiece): number {
  return typeof piece === 'string' ? Buffer.byteLength(piece) : piece.quotedPrintable.octets;
}
