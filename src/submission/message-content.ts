import type { EmailAddress } from '../foundation/email-address.ts';

/** Who a message is from, as its From header says. */
export interface MessageSender {
  readonly address: EmailAddress;
  /** Absent: the address alone. */
  readonly name?: string;
}

/**
 * `message.content`: everything personal of a message, frozen when it was accepted. Recipient 0 is `to`, recipient n is
 * `cc[n - 1]`; each counts so in `queue_entry.pending` and in events. Erasing this one value erases the person.
 */
export interface MessageContent {
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
  readonly values: Readonly<Record<string, string>>;
}
