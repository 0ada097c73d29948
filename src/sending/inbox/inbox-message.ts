import type { AccountId } from '../../base/values/ids.ts';

declare const brand: unique symbol;

/** Identifies a message of the inbox: a UUID v7. */
export type InboxMessageId = string & { readonly [brand]: 'InboxMessageId' };

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Parses a UUID, ignoring case; undefined if invalid. */
export function parseInboxMessageId(text: string): InboxMessageId | undefined {
  const lower = text.toLowerCase();
  return uuid.test(lower) ? (lower as InboxMessageId) : undefined;
}

/** A header field: its name as written, its value unfolded and decoded. */
export type MailHeaderField = readonly [name: string, value: string];

/** The decoded content of a message. */
export interface MailContent {
  /** In message order. */
  readonly headers: readonly MailHeaderField[];
  readonly subject: string;
  /** The HTML part; null if there is none. */
  readonly html: string | null;
  /** The plain-text part; null if there is none. */
  readonly text: string | null;
  /** True if its parts couldn't be read, so that only its header and source are known. */
  readonly unread: boolean;
}

/** A message as received by the SMTP server. */
export interface IncomingMail extends MailContent {
  /** The account that sent it, `.system` for the service's own mail; undefined if another program did. */
  readonly accountId?: AccountId | undefined;
  /** The address of MAIL FROM; empty for the null sender (RFC 5321 section 4.5.5). */
  readonly envelopeFrom: string;
  /** The addresses of RCPT TO, as given. */
  readonly envelopeTo: readonly string[];
  /** A copy of a test message. Default: false. */
  readonly test?: boolean | undefined;
  /** The original bytes of the message. */
  readonly source: Buffer;
}

/** A stored message. */
export interface CapturedMessage extends IncomingMail {
  readonly id: InboxMessageId;
  readonly receivedAt: Date;
}

/** An entry in the message list. */
export interface CapturedMessageSummary {
  readonly id: InboxMessageId;
  readonly receivedAt: Date;
  readonly envelopeFrom: string;
  readonly envelopeTo: readonly string[];
  /** The decoded From header; null if there is none. */
  readonly from: string | null;
  readonly subject: string;
  /** The beginning of the text. */
  readonly beginning: string;
}

/** The values of the header fields with this lowercase name. */
export function headerValues(content: MailContent, name: string): string[] {
  return content.headers
    .filter(([field]) => field.toLowerCase() === name)
    .map(([, value]) => value);
}
