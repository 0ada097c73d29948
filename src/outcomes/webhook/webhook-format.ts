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
  /** Its name for each kind; null if it has none. */
  readonly names: Readonly<Record<WebhookKind, string | null>>;
  /** The body of an event that has a name. */
  describe(event: WebhookEvent): object;
  /** Whether a request has room for the signatures of two secrets, so that a receiver can switch. */
  readonly signsTwice: boolean;
  /** @param secrets the current one first, then the previous one while it is valid */
  sign(webhook: UnsignedWebhook, secrets: readonly string[]): SignedWebhook;
}

/** RFC 3463 section 2. */
const statusPattern = /\b[245]\.\d{1,3}\.\d{1,3}\b/;

/** What the receiving server said: its text, the SMTP code (0 if unknown) and the enhanced status. */
export function serverReply({ detail }: Pick<WebhookEvent, 'detail'>) {
  const text = textOf(detail.reply) || textOf(detail.reason);
  const status = textOf(detail.status) || (statusPattern.exec(text)?.[0] ?? '');
  return { text, status, code: Number(/^\d{3}\b/.exec(text)?.[0] ?? 0) };
}

/** True for a bounce that suppresses the address, which providers call a hard bounce. */
export function isHardBounce({ kind, detail }: WebhookEvent): boolean {
  const isHard = (hardCauses as readonly unknown[]).includes(detail.cause);
  return kind === 'bounced' && isHard && detail.permanent !== false;
}

const subTypes: Partial<Record<PermanentCause, string>> = {
  'mailbox-full': 'MailboxFull',
  size: 'MessageTooLarge',
  content: 'ContentRejected',
};

/** A bounce in the terms of Amazon SES, which Resend passes on. */
export function sesBounce(event: WebhookEvent) {
  if (isHardBounce(event)) return { type: 'Permanent', subType: 'General' };
  const subType = subTypes[event.detail.cause as PermanentCause] ?? 'General';
  return { type: 'Transient', subType };
}

/** Who caused an open or click: its user agent, and its address or network. */
export function readerOf({ detail }: WebhookEvent) {
  const ip = textOf(detail.network).replace(/\/\d+$/, '');
  return { ip, userAgent: textOf(detail.userAgent), isPerson: detail.class === 'person' };
}

/** The message as most formats tell it; texts are empty where they aren't known. */
export function messageOf({ messageId, envelope, address }: WebhookEvent) {
  const { from = null, subject = null } = envelope ?? {};
  return {
    acceptedAt: timeOfId(messageId),
    /** The Message-ID, without angle brackets. */
    headerId: from === null ? '' : `${messageId}@${domainOf(from.address)}`,
    fromAddress: from?.address ?? '',
    from: from?.name === undefined ? (from?.address ?? '') : `${from.name} <${from.address}>`,
    subject: subject ?? '',
    to: address === null ? [] : [address],
  };
}
