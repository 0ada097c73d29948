import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';

export interface DecodedContent {
  readonly content: Buffer;
  /** Hex. */
  readonly sha256: string;
}

/** Characters decoded, or bytes hashed, per event loop turn; takes about a millisecond. */
const turnLength = 512 * 1_024;
/** Characters decoded at once. Longer strings are large objects to the garbage collector, which then runs far more often. */
const pieceLength = 32 * 1_024;
/** Decoding skips other characters, and takes `-` and `_` as well. */
const lastPattern = /^(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)?$/;

/**
 * Decodes base64 (RFC 4648 section 4, padded, without line breaks) and hashes the content, in pieces with other work between
 * them.
 * @param base64 bytes are overwritten, and the content is in their place
 * @returns undefined if it isn't base64
 */
export async function decodeBase64(base64: string | Buffer): Promise<DecodedContent | undefined> {
  const { length } = base64;
  if (length % 4 !== 0) return undefined;
  const slice = (start: number, end: number): string =>
    typeof base64 === 'string' ? base64.slice(start, end) : base64.toString('latin1', start, end);
  const last = slice(Math.max(0, length - 4), length);
  if (!lastPattern.test(last)) return undefined;
  const padding = last.length - last.replaceAll('=', '').length;
  const size = (length / 4) * 3 - padding;
  // In place: what a piece becomes ends before the next one, and more buffers would mean more garbage collections.
  const content =
    typeof base64 === 'string' ? Buffer.allocUnsafeSlow(size) : base64.subarray(0, size);
  const hash = createHash('sha256');
  let written = 0;
  for (let start = 0; start < length; start += pieceLength) {
    if (start > 0 && start % turnLength === 0) await nextTurn();
    const end = Math.min(start + pieceLength, length);
    const piece = slice(start, end);
    const bytes = content.subarray(written, written + content.write(piece, written, 'base64'));
    const checked = end === length ? piece.length - last.length : piece.length;
    if (!isEncoded(piece, bytes, checked)) return undefined;
    hash.update(bytes);
    written += bytes.length;
  }
  return written === content.length ? { content, sha256: hash.digest('hex') } : undefined;
}

/**
 * True if so many characters are what the bytes are encoded as. A tenth of the time that a regular expression takes; the last
 * four aren't compared, because their unused bits can differ.
 */
function isEncoded(base64: string, bytes: Buffer, characters: number): boolean {
  const encoded = bytes.toString('base64', 0, (characters / 4) * 3);
  return encoded === (characters === base64.length ? base64 : base64.slice(0, characters));
}

/** SHA-256 of the parts, hashed in pieces, one byte per character. */
export async function hashInPieces(parts: readonly Buffer[]): Promise<string> {
  const hash = createHash('sha256');
  let hashed = 0;
  for (const part of parts)
    for (let start = 0; start < part.length; start += turnLength) {
      if (hashed >= turnLength) {
        hashed = 0;
        await nextTurn();
      }
      const piece = part.subarray(start, start + turnLength);
      hash.update(piece);
      hashed += piece.length;
    }
  return hash.digest('binary');
}
