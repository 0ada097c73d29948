import { decodeText } from './decode-text.ts';

/** RFC 2047 section 2, with the blanks that some programs leave in a word; the language of RFC 2231 section 5 is dropped. */
const word = /=\?([^?\s*]{1,60})(?:\*[^?\s]{0,60})?\?([BQ])\?([^?\r\n]*)\?=/gi;

/** Decodes the encoded words of a header value. Characters that were cut in two words are joined. */
export function decodeWords(value: string): string {
  let result = '';
  let end = 0;
  let pending: { readonly charset: string; readonly bytes: Buffer[] } | undefined;
  const flush = (): void => {
    if (pending !== undefined) result += decodeText(Buffer.concat(pending.bytes), pending.charset);
    pending = undefined;
  };
  for (const { 0: whole, 1: name = '', 2: encoding = '', 3: content = '', index } of value.matchAll(
    word,
  )) {
    const between = value.slice(end, index);
    // RFC 2047 section 6.2: blanks between encoded words aren't text.
    if (pending === undefined || between.trim() !== '') {
      flush();
      result += between;
    }
    const charset = name.toLowerCase();
    if (pending?.charset !== charset) {
      flush();
      pending = { charset, bytes: [] };
    }
    pending.bytes.push(/b/i.test(encoding) ? Buffer.from(content, 'base64') : fromQ(content));
    end = index + whole.length;
  }
  flush();
  return result + value.slice(end);
}

/** RFC 2047 section 4.2. */
function fromQ(content: string): Buffer {
  const text = content
    .replaceAll('_', ' ')
    .replace(/=([0-9A-F]{2})/gi, (_all, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  return Buffer.from(text, 'latin1');
}
