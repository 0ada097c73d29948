import libmime from 'libmime';

/** A header's value with its encoded words (RFC 2047) decoded, or as it is where they cannot be. */
export function decodeWords(value: string): string {
  try {
    return libmime.decodeWords(value);
  } catch {
    return value;
  }
}
