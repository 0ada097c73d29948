import type { AttachmentInfo } from '../message/attachment.ts';
import { attachmentHead, boundaryOf } from '../message/attachment-part.ts';

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
