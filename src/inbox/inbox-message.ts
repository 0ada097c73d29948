declare const brand: unique symbol;

/** Names a message of the inbox: a UUID v7. */
export type InboxMessageId = string & { readonly [brand]: 'InboxMessageId' };

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The id that `text` spells (a UUID in any case), or undefined where it can be none. */
export function parseInboxMessageId(text: string): InboxMessageId | undefined {
  const lower = text.toLowerCase();
  return uuid.test(lower) ? (lower as InboxMessageId) : undefined;
}

/** A header field: its name as written, its value unfolded and decoded. */
export type MailHeaderField = readonly [name: string, value: string];

/** What a message says, decoded. A message that could not be parsed has none of it, only its source. */
export interface MailContent {
  /** In the order of the message. */
  readonly headers: readonly MailHeaderField[];
  readonly subject: string;
  /** The HTML part; null where the message has none. */
  readonly html: string | null;
  /** The plain-text part; null where the message has none. */
  readonly text: string | null;
}

/** A message as the SMTP server received it. */
export interface IncomingMail extends MailContent {
  /** The address of MAIL FROM; empty for the null sender (RFC 5321 section 4.5.5). */
  readonly envelopeFrom: string;
  /** The addresses of RCPT TO, as given. */
  readonly envelopeTo: readonly string[];
  /** The message byte for byte. */
  readonly source: Buffer;
}

/** A message of the inbox. */
export interface CapturedMessage extends IncomingMail {
  readonly id: InboxMessageId;
  readonly receivedAt: Date;
}

/** A line of the list. */
export interface CapturedMessageSummary {
  readonly id: InboxMessageId;
  readonly receivedAt: Date;
  readonly envelopeFrom: string;
  readonly envelopeTo: readonly string[];
  /** The From header, decoded; undefined where the message has none. */
  readonly from: string | undefined;
  readonly subject: string;
  /** How the text begins. */
  readonly beginning: string;
}

/** The values of the header fields with this name, which is given in lower case. */
export function headerValues(content: MailContent, name: string): string[] {
  return content.headers
    .filter(([field]) => field.toLowerCase() === name)
    .map(([, value]) => value);
}
