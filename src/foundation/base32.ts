const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';

/** Bytes in lower-case letters and digits (RFC 4648 section 6) without padding, for names whose case can change. */
export function encodeBase32(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += alphabet[(value >>> bits) & 31];
    }
    value &= (1 << bits) - 1;
  }
  return bits === 0 ? text : text + alphabet[(value << (5 - bits)) & 31];
}

/**
 * The bytes of a text that `encodeBase32` wrote.
 * @returns undefined if it isn't the canonical encoding of its bytes
 */
export function decodeBase32(text: string): Buffer | undefined {
  const bytes: number[] = [];
  let bits = 0;
  let value = 0;
  for (const letter of text) {
    value = (value << 5) | alphabet.indexOf(letter);
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((value >>> bits) & 255);
    value &= (1 << bits) - 1;
  }
  const decoded = Buffer.from(bytes);
  return encodeBase32(decoded) === text ? decoded : undefined;
}
