import type { Account } from '../account/account.ts';
import type { MessageId } from '../foundation/ids.ts';
import type { StoredMessageStatus } from './message-status-store.ts';

/** Events of these kinds say what became of a recipient; others are notes, opens, clicks. */
const outcomes: ReadonlySet<string> = new Set([
  'delivered',
  'deferred',
  'bounced',
  'expired',
  'failed',
  'uncertain',
  'suppressed',
  'canceled',
]);

/**
 * The public view of a message: what it is, how far it is, what happened and what comes next. Values of
 * personalization fields are not part of it, so nothing secret is either.
 */
export function describeMessage(
  messageId: MessageId,
  status: StoredMessageStatus,
  account: Account,
): Record<string, unknown> {
  const { message, entry, events } = status;
  const sending = entry?.leased === true;
  return {
    success: true,
    messageId,
    templateId: message.template_id,
    templateVersion: message.template_version,
    state: sending && entry.pending.includes(0) ? 'sending' : message.state,
    stateAt: message.state_at,
    acceptedAt: message.accepted_at,
    transactional: message.transactional,
    externalId: message.external_id,
    tag: message.tag,
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

/** In the order in which events count them. Addresses are null once the message's personal data is erased. */
function describeRecipients({ message, entry, events }: StoredMessageStatus): unknown[] {
  const { content } = message;
  const addresses: (string | null)[] =
    content === null ? [null] : [content.to, ...(content.cc ?? [])];
  return addresses.map((address, recipient) => {
    const last = events.findLast(
      (event) => event.recipient === recipient && outcomes.has(event.kind),
    );
    const sending = entry?.leased === true && entry.pending.includes(recipient);
    const before = last?.kind ?? (recipient === 0 ? message.state : 'queued');
    return {
      address,
      role: recipient === 0 ? 'to' : 'cc',
      state: sending ? 'sending' : before,
      at: last?.at ?? message.accepted_at,
    };
  });
}

/** When the message is tried next and why it waits; null when nothing more is to come. */
function describeNextAttempt({ entry }: StoredMessageStatus, account: Account): unknown {
  if (entry === undefined || entry.leased) return null;
  if (account.suspended) {
    return { at: null, reason: 'held, as the account is suspended; sent on once it is not' };
  }
  return {
    at: entry.due_at,
    reason: entry.reason ?? (entry.due_at === null ? 'waits for a person' : 'waits for its turn'),
  };
}
