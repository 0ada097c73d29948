import type { EmailAddress } from '../foundation/email-address.ts';
import type { FieldValue } from '../template/field-value.ts';

/** Section 2.2 of the contract: Cc addresses of one message. */
export const maxCc = 5;
/** To and Cc. */
export const maxRecipients = 1 + maxCc;
/** Section 2.2 of the contract, in Unicode code points. */
export const maxSubjectLength = 90;
export const maxPreviewLength = 240;

/** Who a message is from, as its From header says. */
export interface MessageSender {
  readonly address: EmailAddress;
  /** Absent: the address alone. */
  readonly name?: string;
}

/**
 * `message.content`: everything personal of a message, frozen when it was accepted. Recipient 0 is `to`, recipient n is
 * `cc[n - 1]`; each counts so in `queue_entry.pending` and in events. Erasing this one value erases the person. Its members
 * in SQL: `message-sql.ts`.
 */
export interface MessageContent<Value extends FieldValue | null = FieldValue> {
  readonly to: EmailAddress;
  readonly cc?: readonly EmailAddress[];
  /** Cc addresses of the request that were left out, as they were suppressed. */
  readonly suppressedCc?: readonly EmailAddress[];
  readonly from: MessageSender;
  /** Absent: the From address (section 2.2). */
  readonly replyTo?: EmailAddress;
  /** As the request had it, markup included. Absent: the template's. */
  readonly subjectLine?: string;
  readonly previewText?: string;
  /** Values by field name, as the request had them. */
  readonly values: Readonly<Record<string, Value>>;
  /** When to send it (RFC 3339), if that was ahead when it was accepted. */
  readonly sendAt?: string;
  /** Until the version to use is chosen at the send time. */
  readonly templateVersion?: 'due';
}

/** What each member holds: a retention rule erases texts and values before addresses. */
export const contentMemberKinds = {
  to: 'address',
  cc: 'address',
  suppressedCc: 'address',
  from: 'address',
  replyTo: 'address',
  subjectLine: 'text',
  previewText: 'text',
  values: 'values',
  sendAt: 'text',
  templateVersion: 'text',
} as const satisfies Readonly<Record<keyof MessageContent, 'address' | 'text' | 'values'>>;

/** Content as the database has it; values that were erased are null. */
export type StoredContent = MessageContent<FieldValue | null>;

/** Every member, so that the compiler names who leaves one out; JSON leaves out what is undefined. */
export type ContentMembers = {
  readonly [Name in keyof Required<MessageContent>]: MessageContent[Name] | undefined;
} & MessageContent;

type Fields = Readonly<Record<string, unknown>>;

/** Reads stored content, without values that were erased; undefined where it was erased or is not that of a message. */
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
    values: isFields(values) ? withoutErased(values) : {},
    sendAt: textOf(stored.sendAt),
    templateVersion: stored.templateVersion === 'due' ? 'due' : undefined,
  };
  return content;
}

/** The send time in stored content; undefined if it has none. */
export function sendAtOf(stored: unknown): Date | undefined {
  const text = isFields(stored) ? textOf(stored.sendAt) : undefined;
  return text === undefined ? undefined : new Date(text);
}

/** The content of a new message that is sent at once. */
export function withoutSchedule<Value extends FieldValue | null>({
  sendAt: _,
  templateVersion: __,
  ...content
}: MessageContent<Value>): Omit<MessageContent<Value>, 'sendAt' | 'templateVersion'> {
  return content;
}

/** In the order in which the queue and events count them: To, then Cc. */
export function recipientsOf({
  to,
  cc,
}: Pick<MessageContent, 'to' | 'cc'>): readonly [EmailAddress, ...EmailAddress[]] {
  return cc === undefined ? [to] : [to, ...cc];
}

/** Those of the named fields that the content has a value of; undefined where it has none. */
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

/** Texts, lists and objects, as they were accepted; only a value as a whole is ever erased. */
function withoutErased(values: Fields): Record<string, FieldValue> {
  const given = Object.entries(values).filter(
    ([, value]) => typeof value === 'string' || (typeof value === 'object' && value !== null),
  );
  return Object.fromEntries(given) as Record<string, FieldValue>;
}
