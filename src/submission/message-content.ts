import type { EmailAddress } from '../foundation/email-address.ts';

/** The sender as shown in the From header. */
export interface MessageSender {
  readonly address: EmailAddress;
  /** Absent for the address alone. */
  readonly name?: string;
}

/**
 * `message.content`: all personal data of a message, frozen on acceptance, so erasing this value erases the person.
 * Recipient 0 is `to` and n is `cc[n - 1]`, as in `queue_entry.pending` and events.
 */
export interface MessageContent {
  readonly to: EmailAddress;
  readonly cc?: readonly EmailAddress[];
  /** Cc addresses from the request that were omitted because they are suppressed. */
  readonly suppressedCc?: readonly EmailAddress[];
  readonly from: MessageSender;
  /** Defaults to the From address (section 2.2). */
  readonly replyTo?: EmailAddress;
  /** As given in the request, markup included. Defaults to the template's. */
  readonly subjectLine?: string;
  readonly previewText?: string;
  /** Values by field name, as given in the request. */
  readonly values: Readonly<Record<string, string>>;
}
