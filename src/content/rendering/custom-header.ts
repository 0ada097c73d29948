import { encodeWords } from './encoded-words.ts';

/** RFC 5322 section 2.1.1 recommends this length. */
const maxLine = 78;

/** The lines of a request's headers. Sorted, because JSON in the database doesn't keep their order, and every attempt sends the same bytes. */
export function customHeaders(headers: Readonly<Record<string, string>> = {}): string[] {
  return Object.keys(headers)
    .sort()
    .map((name) => customHeader(name, headers[name] ?? ''));
}

/**
 * The lines of a header from a request, without the final CRLF. ASCII stays as it is and is only folded, since programs
 * also read these headers without decoding them; other text becomes encoded words.
 * @param value not empty, trimmed and without control characters
 */
export function customHeader(name: string, value: string): string {
  const freeText = /^x-/i.test(name);
  if (!freeText || (/^[ -~]*$/.test(value) && !value.includes('=?'))) return fold(name, value);
  // A word of its own line if the name leaves too little room for even one character.
  const column = name.length + 2;
  if (column > maxLine - 40) return `${name}:\r\n ${encodeWords(value, 1)}`;
  return `${name}: ${encodeWords(value, column)}`;
}

/** Breaks lines before spaces, which unfolding keeps (RFC 5322 section 2.2.3). */
function fold(name: string, value: string): string {
  let folded = `${name}:`;
  let length = folded.length;
  for (const word of ` ${value}`.match(/ +[^ ]+/g) ?? []) {
    // A line break right after the name is valid, but some programs then read an empty value.
    const first = folded.length === name.length + 1;
    if (!first && length + word.length > maxLine) {
      folded += '\r\n';
      length = 0;
    }
    folded += word;
    length += word.length;
  }
  return folded;
}
