import type { EmailAddress } from '../foundation/email-address.ts';
import type { TemplateOverride } from '../template/parse-override.ts';
import type { RequestedAttachment } from './read-attachments.ts';

/** A subject line or preview text from a request, raw and parsed. */
export interface SubjectOverride {
  readonly text: string;
  readonly parsed: TemplateOverride;
}

/** A validated send body, before the defaults of section 2.2 are applied. */
export interface ParsedSendRequest {
  readonly to: EmailAddress;
  readonly cc: readonly EmailAddress[];
  readonly from: EmailAddress | undefined;
  readonly fromDisplayName: string | undefined;
  readonly replyTo: EmailAddress | undefined;
  readonly subjectLine: SubjectOverride | undefined;
  readonly previewText: SubjectOverride | undefined;
  readonly attachments: readonly RequestedAttachment[];
  readonly values: Readonly<Record<string, string>>;
  readonly transactional: boolean;
  readonly externalId: string | undefined;
  readonly tag: string | undefined;
  readonly trackOpens: boolean;
  readonly trackClicks: boolean;
  readonly deliverWhenDelayed: boolean;
}
