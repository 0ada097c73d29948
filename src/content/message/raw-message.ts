import type { TemplateId } from '../../base/values/ids.ts';
import type { AttachmentInfo } from './attachment.ts';
import type { MessageContent } from './message-content.ts';

/** The template ID of messages that were submitted complete. No template can have it (`parseTemplateId`). */
export const rawTemplateId = '.raw' as TemplateId;
/** Their template version. */
export const rawVersion = 0;
/** Max code points of their subject: as long as a line of a message can be (RFC 5322 section 2.1.1). */
export const maxRawSubject = 998;

/** How the message of a submission is described among its attachments; the only one of a raw message. */
export function describeRawSource(sha256: string, size: number): AttachmentInfo {
  return { filename: 'message.eml', contentType: 'message/rfc822', size, sha256 };
}

/** The message as it was submitted; undefined if it was erased. */
export function rawSourceOf({
  attachments,
}: Pick<MessageContent, 'attachments'>): AttachmentInfo | undefined {
  return attachments?.[0];
}
