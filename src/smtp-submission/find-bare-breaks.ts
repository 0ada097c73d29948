const carriageReturn = 13;
const lineFeed = 10;

/**
 * Finds what must not be in a message as sent: a CR or LF on its own (RFC 5321 section 2.3.8), which other servers may take
 * for the end of a line and so for the end of the message (section 4.1.1.4), and NUL.
 */
export class BareBreakFinder {
  #found = false;
  #endsInReturn = false;

  /** True once one was found. */
  get found(): boolean {
    return this.#found || this.#endsInReturn;
  }

  /** Reads the next piece of the message. */
  add(chunk: Buffer): void {
    if (this.#found || chunk.length === 0) return;
    this.#found =
      (this.#endsInReturn && chunk[0] !== lineFeed) ||
      chunk.includes(0) ||
      hasBareFeed(chunk, this.#endsInReturn) ||
      hasBareReturn(chunk);
    this.#endsInReturn = chunk.at(-1) === carriageReturn;
  }
}

function hasBareFeed(chunk: Buffer, afterReturn: boolean): boolean {
  for (let at = chunk.indexOf(lineFeed); at !== -1; at = chunk.indexOf(lineFeed, at + 1)) {
    if (at === 0 ? !afterReturn : chunk[at - 1] !== carriageReturn) return true;
  }
  return false;
}

/** The last byte is judged with the next chunk. */
function hasBareReturn(chunk: Buffer): boolean {
  const last = chunk.length - 1;
  for (
    let at = chunk.indexOf(carriageReturn);
    at !== -1 && at < last;
    at = chunk.indexOf(carriageReturn, at + 1)
  ) {
    if (chunk[at + 1] !== lineFeed) return true;
  }
  return false;
}
