/** Max attachments of one message. */
export const maxAttachments = 20;

/** An attachment as `message.content` describes it; its content is stored by its hash. */
export interface AttachmentInfo {
  readonly filename: string;
  readonly contentType: string;
  /** Set: an inline part that the HTML shows as `cid:…`. */
  readonly contentId?: string;
  /** Bytes of the content. */
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
}

/** RFC 2045 section 6.8: 57 bytes make a line of 76 characters. */
export const base64LineBytes = 57;
const base64LineLength = 76 + 2;

/** Bytes of a content in base64 with line breaks, the last one included. */
export function encodedLength(bytes: number): number {
  const fullLines = Math.floor(bytes / base64LineBytes);
  const rest = bytes % base64LineBytes;
  return fullLines * base64LineLength + (rest === 0 ? 0 : Math.ceil(rest / 3) * 4 + 2);
}

/** SHA-256 of the distinct contents, one byte per character. */
export function contentHashes(attachments: readonly AttachmentInfo[]): string[] {
  const distinct = new Set(attachments.map(({ sha256 }) => sha256));
  return Array.from(distinct, (sha256) => Buffer.from(sha256, 'hex').toString('latin1'));
}

/** The images of a template that no attachment of a request replaces. */
export function withoutReplaced<Image extends { readonly contentId: string }>(
  images: readonly Image[],
  attachments: readonly { readonly contentId?: string | undefined }[],
): readonly Image[] {
  if (attachments.length === 0) return images;
  const replaced = new Set(attachments.map(({ contentId }) => contentId));
  return images.filter(({ contentId }) => !replaced.has(contentId));
}

/** Reads stored descriptions; undefined if there are none. */
export function readAttachmentInfos(stored: unknown): readonly AttachmentInfo[] | undefined {
  if (!Array.isArray(stored)) return undefined;
  return stored.filter(isAttachment);
}

function isAttachment(stored: unknown): stored is AttachmentInfo {
  if (typeof stored !== 'object' || stored === null) return false;
  const { filename, contentType, size, sha256 } = stored as Record<string, unknown>;
  return (
    typeof filename === 'string' &&
    typeof contentType === 'string' &&
    typeof size === 'number' &&
    typeof sha256 === 'string'
  );
}
