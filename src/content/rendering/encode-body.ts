import { base64Lines } from './encode-for-seven-bits.ts';
import type { BodyPiece } from './load-template.ts';
import { QuotedPrintableWriter } from './quoted-printable.ts';

export interface EncodedBody {
  readonly encoding: 'quoted-printable' | 'base64';
  /** ASCII; every line has at most 76 characters and ends with CRLF. */
  readonly content: string;
}

/** Encodes a body as quoted-printable or base64, whichever is shorter. */
export function encodeBody(pieces: readonly BodyPiece[]): EncodedBody {
  const writer = new QuotedPrintableWriter();
  for (const piece of pieces) {
    if (typeof piece === 'string') writer.addText(piece);
    else writer.addEncoded(piece.quotedPrintable);
  }
  const encoded = writer.finish();
  const base64Length = Math.ceil(writer.octets / 3) * 4 * (78 / 76);
  if (encoded.length > base64Length + 78) return encodeBase64(bodyText(pieces));
  const ended = encoded.endsWith('\r\n') && !encoded.endsWith('=\r\n');
  return {
    encoding: 'quoted-printable',
    content: ended || encoded === '' ? encoded : `${encoded}\r\n`,
  };
}

/** The plain body with line feeds. */
export function bodyText(pieces: readonly BodyPiece[]): string {
  let text = '';
  for (const piece of pieces) text += typeof piece === 'string' ? piece : piece.text;
  return text;
}

/** Line breaks of text become CRLF before encoding (RFC 2045 section 6.8, RFC 2046 section 4.1.1). */
function encodeBase64(text: string): EncodedBody {
  const content = base64Lines(Buffer.from(text.replaceAll('\n', '\r\n'))).toString('latin1');
  return { encoding: 'base64', content };
}
