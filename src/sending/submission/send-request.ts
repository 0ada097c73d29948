import type { EmailAddress } from '../../base/values/email-address.ts';
import type { MessageTexts } from '../../content/rendering/fill-content.ts';
import type { GivenValues } from '../../content/template/field-value.ts';
import type { TemplateOverride } from '../../content/template/parse-override.ts';
import type { DeliveryTiming } from './delivery-timing.ts';
import type { RequestedAttachment } from './read-attachments.ts';
import type { StatusRequest } from './status-link.ts';

/** A subject line or preview text from a request, raw and parsed. */
export interface SubjectOverride {
  readonly text: string;
  readonly parsed: TemplateOverride;
}

/** A validated send body, before the defaults of section 2.2 are applied. */
export interface ParsedSendRequest {
  readonly to: EmailAddress;
  readonly toDisplayName: string | undefined;
  readonly cc: readonly EmailAddress[];
  readonly bcc: readonly EmailAddress[];
  /** Where the account's own copy goes. */
  readonly archive?: EmailAddress | undefined;
  readonly from: EmailAddress | undefined;
  readonly fromDisplayName: string | undefined;
  readonly replyTo: EmailAddress | undefined;
  readonly subjectLine: SubjectOverride | undefined;
  readonly previewText: SubjectOverride | undefined;
  /** Canonical. */
  readonly locale?: string | undefined;
  readonly attachments: readonly RequestedAttachment[];
  readonly values: GivenValues;
  /** Some of the values are lists or objects. */
  readonly structured: boolean;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly attributes: Readonly<Record<string, string>> | undefined;
  readonly transactional: boolean;
  readonly externalId: string | undefined;
  readonly tag: string | undefined;
  readonly trackOpens: boolean;
  readonly trackClicks: boolean;
  readonly deliverWhenDelayed: boolean;
  readonly receiveReplies?: boolean | undefined;
  /** Undefined: at once, and no deadline of its own. */
  readonly timing?: DeliveryTiming | undefined;
  /** Undefined: the response has no status link. */
  readonly status?: StatusRequest | undefined;
}

/** A validated body of a message that isn't made from a stored template. */
export interface ParsedContentRequest {
  readonly request: ParsedSendRequest;
  readonly texts: MessageTexts;
  /** The texts are sent as they are. */
  readonly literal: boolean;
  /** For its Date header: when it is to be sent. */
  readonly date: Date;
}
