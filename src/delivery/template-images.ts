import { type AttachmentInfo, withoutReplaced } from '../message/attachment.ts';
import type { TemplateImage } from '../template/template-source.ts';

/** A file of one message. */
export interface SentFile extends AttachmentInfo {
  /** It is the same in every message of the template version. */
  readonly ofTemplate?: true;
}

/** The request's attachments, and those images of the template that none of them replaces. */
export function withImages(
  attachments: readonly AttachmentInfo[] | undefined,
  images: readonly TemplateImage[] | undefined,
): readonly SentFile[] | undefined {
  if (images === undefined) return attachments;
  const own = withoutReplaced(images, attachments ?? []);
  if (own.length === 0) return attachments;
  return [...(attachments ?? []), ...own.map((image) => ({ ...image, ofTemplate: true as const }))];
}
