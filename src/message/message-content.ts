import type { EmailAddress } from '../foundation/email-address.ts';
import { type AttachmentInfo, readAttachmentInfos } from './attachment.ts';

/** Max Cc addresses of one message (section 2.2 of the contract). */
export const maxCc = 5;
/** To and Cc. */
export const maxRecipients = 1 + maxCc;
/** Section 2.2 of the contract, in Unicode code points. */
export const maxSubjectLength = 90;
export const maxPreviewLength = 240;

/** The From header of a message. */
export interface MessageSender {
  readonly address: EmailAddress;
  /** Absent: the header has only the address. */
  readonly name?: string;
}

/**
 * `message.content`: all personal data of a message, frozen at acceptance, so erasing it erases the person. Recipient 0 is
 * `to` and recipient n is `cc[n - 1]`, also in `queue_entry.pending` and in events. `message-sql.ts` reads it in SQL.
 */
export interface MessageContent<Value extends string | null = string> {
  readonly to: EmailAddress;
  readonly cc?: readonly EmailAddress[];
  /** Cc addresses of the request that were skipped because they are suppressed. */
  readonly suppressedCc?: readonly EmailAddress[];
  readonly from: MessageSender;
  /** Absent: the From address (section 2.2). */
  readonly replyTo?: EmailAddress;
  /** As given in the request, markup included. Absent: the template's. */
  readonly subjectLine?: string;
  readonly previewText?: string;
  readonly attachments?: readonly AttachmentInfo[];
  /** Values by field name, as given in the request. */
  readonly values: Readonly<Record<string, Value>>;
}

/** The kind of each member. Retention rules erase texts and values before addresses. */
export const contentMemberKinds = {
  to: 'address',
  cc: 'address',
  suppressedCc: 'address',
  from: 'address',
  replyTo: 'address',
  subjectLine: 'text',
  previewText: 'text',
  attachments: 'text',
  values: 'values',
} as const satisfies Readonly<Record<keyof MessageContent, 'address' | 'text' | 'values'>>;

/** Content as stored; erased values are null. */
export type StoredContent = MessageContent<string | null>;

/** Requires every member, so that the compiler catches a missing one. JSON omits undefined members. */
export type ContentMembers = {
  readonly [Name in keyof Required<MessageContent>]: MessageContent[Name] | undefined;
} & MessageContent;

type Fields = Readonly<Record<string, unknown>>;

/** Reads stored content without erased values; undefined if all of it was erased or it is malformed. */
export function readContent(stored: unknown): MessageContent | undefined {
  if (!isFields(stored) || typeof stored.to !== 'string') return undefined;
  const { from, values } = stored;
  if (!isFields(from) || typeof from.address !== 'string') return undefined;
  const content: ContentMembers = {
    to: stored.to as EmailAddress,
    cc: addressesOf(stored.cc),
    suppressedCc: addressesOf(stored.suppressedCc),
    from: { address: from.address as EmailAddress, name: textOf(from.name) },
    replyTo: textOf(stored.replyTo) as EmailAddress | undefined,
    subjectLine: textOf(stored.subjectLine),
    previewText: textOf(stored.previewText),
    attachments: readAttachmentInfos(stored.attachments),
    values: isFields(values) ? stringMembers(values) : {},
  };
  return content;
}

/** All recipients in the order of their numbers: To, then Cc. */
export function recipientsOf({
  to,
  cc,
}: Pick<MessageContent, 'to' | 'cc'>): readonly [EmailAddress, ...EmailAddress[]] {
  return cc === undefined ? [to] : [to, ...cc];
}

/** The named fields that have a value in the content; undefined if none has. */
export function secretFieldsOf(
  { values }: MessageContent,
  names: readonly string[],
): readonly string[] | undefined {
  const fields = names.filter((name) => Object.hasOwn(values, name));
  return fields.length === 0 ? undefined : fields;
}

function addressesOf(stored: unknown): EmailAddress[] | undefined {
  if (!Array.isArray(stored)) return undefined;
  return stored.filter((item) => typeof item === 'string') as EmailAddress[];
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function stringMembers(values: Fields): Record<string, string> {
  const texts = Object.entries(values).filter(([, value]) => typeof value === 'string');
  return Object.fromEntries(texts) as Record<string, string>;
}
