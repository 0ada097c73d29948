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

/** Decodes quoted-printable (RFC 2045 section 6.7), one character per octet; malformed escapes stay as they are. */
function decodeQuotedPrintable(text: string): string {
  return (
    text
      // Rules 3 and 5: whitespace before a soft line break is text.
      .replace(/=[ \t]*\r?\n/g, '')
      .replace(/=([0-9A-F]{2})/gi, (_all, hex: string) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      )
  );
}

/**
 * Decodes the content of a MIME part (RFC 2045 section 6).
 * @param encoding of Content-Transfer-Encoding; unknown ones count as none
 */
export function decodeTransferEncoding(content: string, encoding: string | undefined): Buffer {
  const name = encoding?.trim().toLowerCase();
  if (name === 'base64') return Buffer.from(content, 'base64');
  return Buffer.from(
    name === 'quoted-printable' ? decodeQuotedPrintable(content) : content,
    'latin1',
  );
}

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

/** The ID of a part from a `cid:` URL, whose other characters are percent-encoded (RFC 2392 section 2). */
export function decodeContentId(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}
