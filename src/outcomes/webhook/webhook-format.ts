import { domainOf } from '../../base/values/email-address.ts';
import { timeOfId } from '../../base/values/uuid7.ts';
import type { WebhookKind } from '../../content/message/event-kinds.ts';
import type { MessageSender } from '../../content/message/message-content.ts';
import { hardCauses, type PermanentCause } from '../../sending/delivery/reply-rules.ts';
import { textOf } from '../relay/json-fields.ts';
import type { AccountEvent } from './account-event-store.ts';

/** What the formats of providers also tell of a message. */
export interface WebhookEnvelope {
  readonly from: MessageSender | null;
  /** As requested; null if the template has it. */
  readonly subject: string | null;
  /** When a scheduled message is to be sent. */
  readonly sendAt: string | null;
}

/** An event with the contents of its body. */
export interface WebhookEvent extends Omit<AccountEvent, 'kind' | 'position'> {
  readonly kind: WebhookKind;
  /** Null for an endpoint that can't read messages, and in our own format, which doesn't have it. */
  readonly envelope: WebhookEnvelope | null;
}

/** A request before it is signed. */
export interface UnsignedWebhook {
  /** Of the event: the same on every attempt. */
  readonly id: string;
  /** Seconds since the epoch. */
  readonly timestamp: number;
  readonly body: string;
}

export interface SignedWebhook {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How an endpoint gets events. */
export interface WebhookFormat {
  /** Its name for each kind, and what it tells of that kind only. It doesn't have the others. */
  readonly events: Partial<
    Record<WebhookKind, readonly [name: string, describe?: (facts: WebhookFacts) => object]>
  >;
  /** The body. @param members what it tells of the kind only */
  describe(name: string, facts: WebhookFacts, members: object): object;
  /** Whether a request has room for the signatures of two secrets, so that a receiver can switch. */
  readonly signsTwice: boolean;
  /** @param secrets the current one first, then the previous one while it is valid */
  sign(webhook: UnsignedWebhook, secrets: readonly string[]): SignedWebhook;
}

/** RFC 3463 section 2. */
const statusPattern = /\b[245]\.\d{1,3}\.\d{1,3}\b/;

const subTypes: Partial<Record<PermanentCause, string>> = {
  'mailbox-full': 'MailboxFull',
  size: 'MessageTooLarge',
  content: 'ContentRejected',
};

export type WebhookFacts = ReturnType<typeof factsOf>;

/** An event in the terms of providers. Texts are empty where they aren't known. */
export function factsOf(event: WebhookEvent) {
  const { kind, messageId, detail, envelope, address, attributes } = event;
  const { from = null, subject = null, sendAt = null } = envelope ?? {};
  const text = textOf(detail.reply) || textOf(detail.reason);
  const cause = detail.cause as PermanentCause;
  // It suppresses the address, as the hard bounces of providers do.
  const isHard = kind === 'bounced' && hardCauses.includes(cause) && detail.permanent !== false;
  return {
    ...event,
    time: event.at.toISOString(),
    acceptedAt: timeOfId(messageId),
    /** The Message-ID, without angle brackets. */
    headerId: from === null ? '' : `${messageId}@${domainOf(from.address)}`,
    fromAddress: from?.address ?? '',
    from: from?.name === undefined ? (from?.address ?? '') : `${from.name} <${from.address}>`,
    subject: subject ?? '',
    isScheduled: sendAt !== null,
    email: address ?? '',
    to: address === null ? [] : [address],
    tags: attributes ?? {},
    /** What the receiving server said: its text, the SMTP code (0 if unknown) and the enhanced status. */
    text,
    code: Number(/^\d{3}\b/.exec(text)?.[0] ?? 0),
    status: textOf(detail.status) || (statusPattern.exec(text)?.[0] ?? ''),
    attempt: Number(textOf(detail.attempt)) || 1,
    cause,
    isHard,
    /** In the terms of Amazon SES, which Resend passes on. */
    bounceType: isHard ? 'Permanent' : 'Transient',
    bounceSubType: (isHard ? undefined : subTypes[cause]) ?? 'General',
    /** Who caused an open or click. */
    ip: textOf(detail.network).replace(/\/\d+$/, ''),
    userAgent: textOf(detail.userAgent),
    isPerson: detail.class === 'person',
  };
}
