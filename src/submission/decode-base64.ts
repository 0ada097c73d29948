import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';

export interface DecodedContent {
  readonly content: Buffer;
  /** Hex. */
  readonly sha256: string;
}

/** Characters decoded and hashed at once; takes about a millisecond. */
const chunkLength = 512 * 1_024;
const notBase64 = /[^A-Za-z0-9+/]/;

/**
 * Decodes base64 (RFC 4648 section 4, padded, without line breaks) and hashes the content, in pieces with other work between
 * them.
 * @returns undefined if it isn't base64
 */
export async function decodeBase64(base64: string | Buffer): Promise<DecodedContent | undefined> {
  const { length } = base64;
  if (length % 4 !== 0) return undefined;
  const slice = (start: number, end: number): string =>
    typeof base64 === 'string' ? base64.slice(start, end) : base64.toString('latin1', start, end);
  const padding = /={0,2}$/.exec(slice(Math.max(0, length - 4), length))?.[0].length ?? 0;
  const content = Buffer.allocUnsafeSlow((length / 4) * 3 - padding);
  const hash = createHash('sha256');
  let written = 0;
  for (let start = 0; start < length; start += chunkLength) {
    if (start > 0) await nextTurn();
    const end = Math.min(start + chunkLength, length);
    const chunk = slice(start, end);
    if (notBase64.test(end === length ? chunk.slice(0, chunk.length - padding) : chunk))
      return undefined;
    const bytes = content.write(chunk, written, 'base64');
    hash.update(content.subarray(written, written + bytes));
    written += bytes;
  }
  return written === content.length ? { content, sha256: hash.digest('hex') } : undefined;
}

/** SHA-256 of the parts, hashed in pieces, one byte per character. */
export async function hashInPieces(parts: readonly Buffer[]): Promise<string> {
  const hash = createHash('sha256');
  for (const part of parts)
    for (let start = 0; start < part.length; start += chunkLength) {
      hash.update(part.subarray(start, start + chunkLength));
      await nextTurn();
    }
  return hash.digest('binary');
}
