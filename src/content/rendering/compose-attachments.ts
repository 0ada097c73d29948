import { setImmediate as nextTurn } from 'node:timers/promises';
import { type AttachmentInfo, base64LineBytes, encodedLength } from '../message/attachment.ts';
import { attachmentHead, boundaryOf } from '../message/attachment-part.ts';

/** Lines encoded at once; takes about a millisecond. */
const linesPerTurn = 4_096;
const bytesPerTurn = linesPerTurn * base64LineBytes;
const lineLength = 76;

/** A content in base64 with lines of 76 characters (RFC 2045 section 6.8), encoded in pieces with other work between them. */
export async function encodeAttachment(content: Buffer): Promise<Buffer> {
  const encoded = Buffer.allocUnsafeSlow(encodedLength(content.length));
  let at = 0;
  for (let start = 0; start < content.length; start += bytesPerTurn) {
    if (start > 0) await nextTurn();
    const text = content.toString('base64', start, Math.min(start + bytesPerTurn, content.length));
    for (let line = 0; line < text.length; line += lineLength)
      at += encoded.write(`${text.slice(line, line + lineLength)}\r\n`, at, 'latin1');
  }
  return encoded;
}

/** An attachment ready for composing. */
export interface EncodedAttachment extends AttachmentInfo {
  /** Base64 with line breaks. */
  readonly encoded: Buffer;
}

const CRLF = '\r\n';

/**
 * Puts attachments around a body: inline ones into a `multipart/related` with it (RFC 2387), the others into a
 * `multipart/mixed`.
 * @param body a part with its header
 * @param hasHtml without HTML, inline parts become ordinary attachments
 * @returns the body's pieces, to be joined
 */
export function attachTo(
  body: string,
  hasHtml: boolean,
  id: string,
  attachments: readonly EncodedAttachment[],
): readonly (string | Buffer)[] {
  const isInline = ({ contentId }: EncodedAttachment): boolean =>
    hasHtml && contentId !== undefined;
  const inline = attachments.filter(isInline);
  const others = attachments
    .filter((attachment) => !isInline(attachment))
    .map(({ contentId: _, ...attachment }) => attachment);
  const type = /^Content-Type: ([^;\r]+)/.exec(body)?.[1] ?? 'text/html';
  const related = wrap('related', [`;${CRLF} type="${type}"`], [body], id, inline);
  return wrap('mixed', [], related, id, others);
}

function wrap(
  kind: 'related' | 'mixed',
  parameters: readonly string[],
  body: readonly (string | Buffer)[],
  id: string,
  attachments: readonly EncodedAttachment[],
): readonly (string | Buffer)[] {
  if (attachments.length === 0) return body;
  const boundary = boundaryOf(kind, id);
  const head = `Content-Type: multipart/${kind};${CRLF} boundary="${boundary}"${parameters.join('')}${CRLF}`;
  return [
    `${head}${CRLF}--${boundary}${CRLF}`,
    ...body,
    ...attachments.flatMap((attachment) => [
      `${CRLF}--${boundary}${CRLF}${attachmentHead(attachment)}`,
      attachment.encoded,
    ]),
    `${CRLF}--${boundary}--${CRLF}`,
  ];
}
