import { isUtf8 } from 'node:buffer';

/** Their names say little about the octets above 127. */
const vague = new Set(['', 'us-ascii', 'ascii', 'ansi_x3.4-1968', 'unknown-8bit', 'x-unknown']);

/** Decodes text; what has no charset, or an unknown one, is UTF-8 if it can be, and Windows-1252 otherwise. */
export function decodeText(bytes: Uint8Array, charset = ''): string {
  const name = charset.trim().toLowerCase();
  const decoder = vague.has(name) ? undefined : decoderOf(name);
  return (
    decoder ?? new TextDecoder(isUtf8(bytes) ? 'utf-8' : 'windows-1252', { ignoreBOM: true })
  ).decode(bytes);
}

/** The decoder of a charset; undefined if it isn't known. */
export function decoderOf(charset: string): InstanceType<typeof TextDecoder> | undefined {
  try {
    return new TextDecoder(charset, { ignoreBOM: true });
  } catch {
    return undefined;
  }
}

const eightBit = /[\x80-\xff]/;

/** Header text of one character per octet, which can contain raw UTF-8 (RFC 6532). */
export function decodeOctets(text: string): string {
  return eightBit.test(text) ? decodeText(Buffer.from(text, 'latin1')) : text;
}
