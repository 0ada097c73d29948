import type { EmailAddress } from '../foundation/email-address.ts';

/** Max Cc addresses of one message (section 2.2 of the contract). */
export const maxCc = 5;
/** Max Bcc addresses of one message. */
export const maxBcc = 5;
/** To, Cc, Bcc and the account's archive address. */
export const maxRecipients = 1 + maxCc + maxBcc + 1;
/** Section 2.2 of the contract, in Unicode code points. */
export const maxSubjectLength = 90;
export const maxPreviewLength = 240;
/** Attributes of one message, and code points of their names and values. */
export const maxAttributes = 20;
export const maxAttributeName = 40;
export const maxAttributeValue = 200;

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
  /** The name in the To header. */
  readonly toName?: string;
  /** Cc, then Bcc, so that both are found, tracked and erased alike. Only `visibleCc` may be shown in the message. */
  readonly cc?: readonly EmailAddress[];
  /** How many of the last addresses of `cc` are Bcc, the account's archive address included. */
  readonly bccCount?: number;
  /** Cc and Bcc addresses of the request that were skipped because they are suppressed. */
  readonly suppressedCc?: readonly EmailAddress[];
  readonly from: MessageSender;
  /** Absent: the From address (section 2.2). */
  readonly replyTo?: EmailAddress;
  /** As given in the request, markup included. Absent: the template's. */
  readonly subjectLine?: string;
  readonly previewText?: string;
  /** Values by field name, as given in the request. */
  readonly values: Readonly<Record<string, Value>>;
  /** Headers of the request by name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The caller's own data by name: in the message's view, search and webhooks, but not in its mail. */
  readonly attributes?: Readonly<Record<string, string>>;
}

/** The kind of each member. Retention rules erase texts and values before addresses. */
export const contentMemberKinds = {
  to: 'address',
  toName: 'address',
  cc: 'address',
  bccCount: 'address',
  suppressedCc: 'address',
  from: 'address',
  replyTo: 'address',
  subjectLine: 'text',
  previewText: 'text',
  values: 'values',
  headers: 'text',
  attributes: 'text',
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
    toName: textOf(stored.toName),
    cc: addressesOf(stored.cc),
    bccCount: typeof stored.bccCount === 'number' ? stored.bccCount : undefined,
    suppressedCc: addressesOf(stored.suppressedCc),
    from: { address: from.address as EmailAddress, name: textOf(from.name) },
    replyTo: textOf(stored.replyTo) as EmailAddress | undefined,
    subjectLine: textOf(stored.subjectLine),
    previewText: textOf(stored.previewText),
    values: isFields(values) ? stringMembers(values) : {},
    headers: isFields(stored.headers) ? stringMembers(stored.headers) : undefined,
    attributes: isFields(stored.attributes) ? stringMembers(stored.attributes) : undefined,
  };
  return content;
}

/** All recipients in the order of their numbers: To, then Cc, then Bcc. */
export function recipientsOf({
  to,
  cc,
}: Pick<MessageContent, 'to' | 'cc'>): readonly [EmailAddress, ...EmailAddress[]] {
  return cc === undefined ? [to] : [to, ...cc];
}

type OtherRecipients = Pick<MessageContent, 'cc' | 'bccCount'>;

/** The addresses of the Cc header. */
export function visibleCc({ cc = [], bccCount = 0 }: OtherRecipients): readonly EmailAddress[] {
  return bccCount === 0 ? cc : cc.slice(0, -bccCount);
}

/** The addresses that appear in no header. */
export function bccOf({ cc = [], bccCount = 0 }: OtherRecipients): readonly EmailAddress[] {
  return bccCount === 0 ? [] : cc.slice(-bccCount);
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
