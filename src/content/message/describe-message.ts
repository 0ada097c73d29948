import type { Account } from '../../accounts/account/account.ts';
import type { MessageId } from '../../base/values/ids.ts';
import { eventKinds, isOutcomeKind, type OutcomeKind } from './event-kinds.ts';
import { hiddenOf, recipientsOf, sentNumber } from './message-content.ts';
import type { PausedScope, StoredEvent, StoredMessageStatus } from './message-status-store.ts';
import type { MessageStatusView } from './message-view.ts';
import { isTestClass } from './test-class.ts';

/**
 * The public view of a message: its data, state, events and next attempt. Personalization values are omitted because
 * they may be secret.
 */
export function describeMessage(
  messageId: MessageId,
  status: StoredMessageStatus,
  account: Account,
): MessageStatusView {
  const { message, events } = status;
  return {
    success: true,
    messageId,
    templateId: message.template_id,
    templateVersion: message.template_version,
    state: isSending(status, 0) ? 'sending' : message.state,
    stateAt: message.state_at,
    acceptedAt: message.accepted_at,
    transactional: message.transactional,
    test: isTestClass(message.retention_days),
    externalId: message.external_id,
    tag: message.tag,
    locale: message.content?.locale ?? null,
    attributes: message.content?.attributes ?? {},
    trackOpens: message.track_opens,
    trackClicks: message.track_clicks,
    deliveryWhenDelayed: message.deliver_when_delayed ? 'TRUE' : 'FALSE',
    recipients: describeRecipients(status),
    suppressedRecipients: message.content?.suppressedCc ?? [],
    nextAttempt: describeNextAttempt(status, account),
    events: events.map((event) => ({
      at: event.at,
      kind: event.kind,
      recipient: event.recipient,
      detail: event.detail,
    })),
  };
}

/** Recipients in the order of their numbers in events. Addresses are null once the message's personal data is erased. */
function describeRecipients(status: StoredMessageStatus): MessageStatusView['recipients'] {
  const { message, events } = status;
  const { content } = message;
  const addresses = content === null ? [] : recipientsOf(content);
  const firstBcc = addresses.length - (content === null ? 0 : hiddenOf(content).length);
  const outcomes = events.filter(isOutcome);
  return (content === null ? [null] : addresses).map((address, recipient) => {
    const sent = sentNumber(addresses, recipient);
    const last = outcomes.findLast((event) => event.recipient === sent);
    const initial = recipient === 0 ? message.state : 'queued';
    const settled = last === undefined ? initial : eventKinds[last.kind].state;
    return {
      address,
      role: recipient === 0 ? 'to' : recipient < firstBcc ? 'cc' : 'bcc',
      state: isSending(status, sent) ? 'sending' : settled,
      at: last?.at ?? message.accepted_at,
    };
  });
}

function isSending({ queued }: StoredMessageStatus, recipient: number): boolean {
  return queued.some((delivery) => delivery.leased && delivery.recipient === recipient);
}

/** True if the event is a recipient's outcome. */
export function isOutcome(
  event: StoredEvent,
): event is StoredEvent & { readonly kind: OutcomeKind } {
  return isOutcomeKind(event.kind);
}

const pausedReasons: Readonly<Record<PausedScope, string>> = {
  message: 'paused manually',
  destination: 'its destination is paused',
  account: 'all mail is paused',
};

/** The next attempt and why its recipient waits; null if the message is final or being sent. */
function describeNextAttempt(
  { queued: [next] }: StoredMessageStatus,
  account: Account,
): MessageStatusView['nextAttempt'] {
  if (next === undefined || next.leased) return null;
  if (account.suspended) {
    return {
      at: null,
      reason: 'the account is suspended; delivery resumes when the suspension ends',
      paused: null,
    };
  }
  if (next.paused !== null)
    return { at: null, reason: pausedReasons[next.paused], paused: next.paused };
  return {
    paused: null,
    at: next.due_at,
    reason: next.reason ?? (next.due_at === null ? 'held for review' : 'waiting in the queue'),
  };
}
