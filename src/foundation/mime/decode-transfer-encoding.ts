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
