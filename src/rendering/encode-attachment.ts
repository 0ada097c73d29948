import { setImmediate as nextTurn } from 'node:timers/promises';
import { base64LineBytes, encodedLength } from '../message/attachment.ts';

/** Lines encoded at once; takes about a millisecond. */
const linesPerTurn = 4_096;
const bytesPerTurn = linesPerTurn * base64LineBytes;
const lineLength = 76;

/** A content in base64 with lines of 76 characters (RFC 2045 section 6.8), encoded in pieces with other work between them. */
export async function encodeAttachment(content: Buffer): Promise<Buffer> {
  const encoded = Buffer.allocUnsafeSlow(encodedLength(content.length));
  let at = 0;
  for (let start = 0; start < content.length; start += bytesPerTurn) {
    if (start > 0) await nextTurn();
    const text = content.toString('base64', start, Math.min(start + bytesPerTurn, content.length));
    for (let line = 0; line < text.length; line += lineLength)
      at += encoded.write(`${text.slice(line, line + lineLength)}\r\n`, at, 'latin1');
  }
  return encoded;
}
