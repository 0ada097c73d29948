import { type AttachmentInfo, encodedLength } from './attachment.ts';

const CRLF = '\r\n';
/** Longer values are split (RFC 2231 section 3), so that lines stay within 76 characters. */
const maxPlainValue = 60;
const maxSegment = 54;
/** RFC 5987 section 3.2.1: characters that need no percent-encoding. */
const attributeCharacter = /^[A-Za-z0-9!#$&+.^_`{|}~-]$/;

/** Boundaries begin with `=_`, which base64 and quoted-printable never contain. Neither is a prefix of another one. */
export function boundaryOf(kind: 'mixed' | 'related', id: string): string {
  return `=_${kind}_${id}`;
}

/** The header of an attachment's part, with the empty line at its end. */
export function attachmentHead({
  filename,
  contentType,
  contentId,
}: Pick<AttachmentInfo, 'filename' | 'contentType' | 'contentId'>): string {
  const disposition = contentId === undefined ? 'attachment' : 'inline';
  return [
    `Content-Type: ${contentType.split(/; ?/).join(`;${CRLF} `)}`,
    'Content-Transfer-Encoding: base64',
    ...(contentId === undefined ? [] : [`Content-ID: <${contentId}>`]),
    `Content-Disposition: ${disposition};${CRLF} ${nameParameter('filename', filename)}`,
    CRLF,
  ].join(CRLF);
}

/** Bytes that an attachment adds to the message, its boundary included. */
export function attachmentPartLength(info: AttachmentInfo): number {
  const boundary = `--${boundaryOf('related', uuidLength)}${CRLF}`;
  return boundary.length + attachmentHead(info).length + encodedLength(info.size) + CRLF.length;
}

const uuidLength = '0'.repeat(36);

/** A parameter in plain ASCII, or encoded (RFC 2231), in several segments if it is long. */
function nameParameter(name: string, value: string): string {
  if (/^[ -~]*$/.test(value) && value.length <= maxPlainValue)
    return `${name}="${value.replace(/["\\]/g, '\\$&')}"`;
  const segments: string[] = [];
  let segment = "utf-8''";
  for (const character of value.toWellFormed()) {
    const encoded = encodeCharacter(character);
    if (segment.length + encoded.length > maxSegment) {
      segments.push(segment);
      segment = '';
    }
    segment += encoded;
  }
  segments.push(segment);
  if (segments.length === 1) return `${name}*=${segments[0]}`;
  return segments.map((text, index) => `${name}*${index}*=${text}`).join(`;${CRLF} `);
}

function encodeCharacter(character: string): string {
  if (attributeCharacter.test(character)) return character;
  return Buffer.from(character).toString('hex').toUpperCase().replace(/../g, '%$&');
}
