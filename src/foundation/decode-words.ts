import libmime from 'libmime';

/** Decodes the encoded words (RFC 2047) of a header value. Returns it unchanged if that fails. */
export function decodeWords(value: string): string {
  try {
    return libmime.decodeWords(value);
  } catch {
    return value;
  }
}
