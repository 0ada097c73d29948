import { readTraceContext, type TraceContext } from '../../base/telemetry/trace-context.ts';
import type { EmailAddress } from '../../base/values/email-address.ts';
import { isObject } from '../../base/values/is-object.ts';
import type { FieldValue } from '../template/field-value.ts';
import { type AttachmentInfo, readAttachmentInfos } from './attachment.ts';

/** Max Cc addresses of one message (contract section 2.2). */
export const maxCc = 5;
/** Max Bcc addresses of one message. */
export const maxBcc = 5;
/** To, Cc, Bcc and the account's archive address. */
export const maxRecipients = 1 + maxCc + maxBcc + 1;
/** Section 2.2 of the contract, in Unicode code points. */
export const maxSubjectLength = 90;
export const maxPreviewLength = 240;
/** Max attributes of one message, and code points in names and values. */
export const maxAttributes = 20;
export const maxAttributeName = 40;
export const maxAttributeValue = 200;

/** The sender in a message's From header. */
export interface MessageSender {
  readonly address: EmailAddress;
  /** Absent: the address alone. */
  readonly name?: string;
}

/**
 * `message.content`: all personal data of a message, frozen at acceptance. Recipient 0 is `to`, recipient n is
 * `cc[n - 1]`, and `archive` comes last; `queue_entry.pending` and events use these numbers. Erasing this one value
 * erases the person. Its members in SQL: `message-sql.ts`.
 */
export interface MessageContent<Value extends FieldValue | null = FieldValue> {
  readonly to: EmailAddress;
  /** The name in the To header. */
  readonly toName?: string;
  /** Cc, then Bcc, so that both are found, tracked and erased alike. Only `visibleCc` may be shown in the message. */
  readonly cc?: readonly EmailAddress[];
  /** How many addresses at the end of `cc` are Bcc; messages accepted by 0.2 count the archive address. */
  readonly bccCount?: number;
  /** Gets the account's own copy, without parts meant for To. Comes after the last of `cc`. */
  readonly archive?: EmailAddress;
  /** Cc and Bcc addresses of the request that were skipped because they are suppressed. */
  readonly suppressedCc?: readonly EmailAddress[];
  readonly from: MessageSender;
  /** Absent: the From address (section 2.2). */
  readonly replyTo?: EmailAddress;
  /** `replyTo` is a reply address of the message. Absent: replies aren't received, or no longer. */
  readonly receiveReplies?: true;
  /** As requested, markup included. Absent: the template's. */
  readonly subjectLine?: string;
  readonly previewText?: string;
  /** The requested language (BCP 47, canonical). With the version, it determines the variant to send. */
  readonly locale?: string;
  /** The locale of the variant chosen at acceptance, for reports. Absent: the default content. */
  readonly variant?: string;
  readonly attachments?: readonly AttachmentInfo[];
  /** Values by field name, as requested. */
  readonly values: Readonly<Record<string, Value>>;
  /** Names of values that are tokens of guarded links. */
  readonly guarded?: readonly string[];
  /** When to send it (RFC 3339), if in the future at acceptance. */
  readonly sendAt?: string;
  /** Set until the version is chosen at the send time. */
  readonly templateVersion?: 'due';
  /** Headers of the request by name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The caller's own data by name: in the message's view, search and webhooks, but not in its mail. */
  readonly attributes?: Readonly<Record<string, string>>;
  /** The span of its acceptance, if traced, with the caller's `tracestate`. */
  readonly trace?: TraceContext;
}

/** Kinds of the members: a retention rule erases texts and values before addresses. */
export const contentMemberKinds = {
  to: 'address',
  toName: 'address',
  cc: 'address',
  bccCount: 'address',
  archive: 'address',
  suppressedCc: 'address',
  from: 'address',
  replyTo: 'address',
  // Replies are texts too, so they are refused once the texts are erased.
  receiveReplies: 'text',
  subjectLine: 'text',
  previewText: 'text',
  locale: 'text',
  // Kept as long as domains, because reports count both.
  variant: 'address',
  attachments: 'text',
  values: 'values',
  // Says that there are links to revoke.
  guarded: 'address',
  sendAt: 'text',
  templateVersion: 'text',
  headers: 'text',
  attributes: 'text',
  // A late bounce still links to it.
  trace: 'address',
} as const satisfies Readonly<Record<keyof MessageContent, 'address' | 'text' | 'values'>>;

/** Members whose loss changes the content of a resent message. */
export const resentMembers = [
  'subjectLine',
  'previewText',
  'attachments',
  'headers',
  'attributes',
  'values',
] as const satisfies readonly (keyof MessageContent)[];

/** Content as stored; erased values are null. */
export type StoredContent = MessageContent<FieldValue | null> & {
  /** Erased by a retention rule. */
  readonly erased?: readonly (typeof resentMembers)[number][];
};

/** Every member, so that the compiler reports missing ones; JSON omits undefined ones. */
export type ContentMembers = {
  readonly [Name in keyof Required<MessageContent>]: MessageContent[Name] | undefined;
} & MessageContent;

type Fields = Readonly<Record<string, unknown>>;

/** Reads stored content without erased values; undefined if it was erased or isn't a message's. */
export function readContent(stored: unknown): MessageContent | undefined {
  if (!isObject(stored) || typeof stored.to !== 'string') return undefined;
  const { from, values } = stored;
  if (!isObject(from) || typeof from.address !== 'string') return undefined;
  const content: ContentMembers = {
    to: stored.to as EmailAddress,
    toName: textOf(stored.toName),
    cc: addressesOf(stored.cc),
    bccCount: typeof stored.bccCount === 'number' ? stored.bccCount : undefined,
    archive: textOf(stored.archive) as EmailAddress | undefined,
    suppressedCc: addressesOf(stored.suppressedCc),
    from: { address: from.address as EmailAddress, name: textOf(from.name) },
    replyTo: textOf(stored.replyTo) as EmailAddress | undefined,
    receiveReplies: stored.receiveReplies === true || undefined,
    subjectLine: textOf(stored.subjectLine),
    previewText: textOf(stored.previewText),
    locale: textOf(stored.locale),
    variant: textOf(stored.variant),
    attachments: readAttachmentInfos(stored.attachments),
    values: isObject(values) ? withoutErased(values) : {},
    guarded: Array.isArray(stored.guarded) ? stored.guarded.map(String) : undefined,
    sendAt: textOf(stored.sendAt),
    templateVersion: stored.templateVersion === 'due' ? 'due' : undefined,
    headers: isObject(stored.headers) ? stringMembers(stored.headers) : undefined,
    attributes: isObject(stored.attributes) ? stringMembers(stored.attributes) : undefined,
    trace: readTraceContext(stored.trace),
  };
  return content;
}

/** The send time in stored content; undefined if it has none. */
export function sendAtOf(stored: unknown): Date | undefined {
  const text = isObject(stored) ? textOf(stored.sendAt) : undefined;
  return text === undefined ? undefined : new Date(text);
}

/** The trace context in stored content; undefined if its acceptance wasn't traced. */
export function traceOf(stored: unknown): TraceContext | undefined {
  return isObject(stored) ? readTraceContext(stored.trace) : undefined;
}

/** The content of a new message that is sent at once. */
export function withoutSchedule<Value extends FieldValue | null>({
  sendAt: _,
  templateVersion: __,
  trace: ___,
  ...content
}: MessageContent<Value>): Omit<MessageContent<Value>, 'sendAt' | 'templateVersion' | 'trace'> {
  return content;
}

/** All recipients in the order of their numbers: To, Cc, Bcc, then the archive. */
export function recipientsOf({
  to,
  cc = [],
  archive,
}: Pick<MessageContent, 'to' | 'cc' | 'archive'>): readonly [EmailAddress, ...EmailAddress[]] {
  return archive === undefined ? [to, ...cc] : [to, ...cc, archive];
}

/** The recipient number of the account's own copy. */
export function archiveNumber({
  cc = [],
  archive,
}: Pick<MessageContent, 'cc' | 'archive'>): number | undefined {
  return archive === undefined ? undefined : cc.length + 1;
}

type OtherRecipients = Pick<MessageContent, 'cc' | 'bccCount' | 'archive'>;

/** Replaces an erased Cc address, so that the others keep their numbers; the domain is reserved (RFC 2606 section 2). */
export const erasedAddress = 'erased@erased.invalid' as EmailAddress;

/** The addresses of the Cc header. */
export function visibleCc({ cc = [], bccCount = 0 }: OtherRecipients): readonly EmailAddress[] {
  return bccCount === 0 ? cc : cc.slice(0, -bccCount);
}

/** The Bcc addresses of the request. */
export function bccOf({ cc = [], bccCount = 0 }: OtherRecipients): readonly EmailAddress[] {
  return bccCount === 0 ? [] : cc.slice(-bccCount);
}

/** The addresses that appear in no header. */
export function hiddenOf(content: OtherRecipients): readonly EmailAddress[] {
  return content.archive === undefined ? bccOf(content) : [...bccOf(content), content.archive];
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

/** Keeps texts, lists and objects as accepted; a value is only ever erased as a whole. */
function withoutErased(values: Fields): Record<string, FieldValue> {
  const given = Object.entries(values).filter(
    ([, value]) => typeof value === 'string' || (typeof value === 'object' && value !== null),
  );
  return Object.fromEntries(given) as Record<string, FieldValue>;
}

function stringMembers(values: Fields): Record<string, string> {
  const texts = Object.entries(values).filter(([, value]) => typeof value === 'string');
  return Object.fromEntries(texts) as Record<string, string>;
}
