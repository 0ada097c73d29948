const carriageReturn = 13;
const lineFeed = 10;

/**
 * Makes every line of a submitted message end in CRLF. Programs send files and texts with LF, and a submission server may mend
 * that (RFC 6409 section 8), because only CRLF.CRLF has ended the message before. A CR on its own (RFC 5321 section 2.3.8) and
 * NUL are refused, because nobody knows what they mean.
 */
export class LineBreakNormalizer {
  #isRefused = false;
  #endsInReturn = false;

  /** True once the message has a CR on its own or a NUL. */
  get isRefused(): boolean {
    return this.#isRefused || this.#endsInReturn;
  }

  /** Reads the next piece of the message and returns it with its line feeds completed. */
  add(chunk: Buffer): Buffer {
    if (this.#isRefused || chunk.length === 0) return chunk;
    const afterReturn = this.#endsInReturn;
    this.#isRefused =
      (afterReturn && chunk[0] !== lineFeed) || chunk.includes(0) || hasBareReturn(chunk);
    this.#endsInReturn = chunk.at(-1) === carriageReturn;
    if (this.#isRefused || !hasBareFeed(chunk, afterReturn)) return chunk;
    const bareFeeds = afterReturn ? /(?<=[^\r])\n/g : /(?<!\r)\n/g;
    return Buffer.from(chunk.toString('latin1').replace(bareFeeds, '\r\n'), 'latin1');
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
