import type { Static } from 'typebox';
import type { Account } from '../account/account.ts';
import type { MessageId } from '../foundation/ids.ts';
import type { Wire } from '../foundation/wire.ts';
import type { MessageStatusSchema } from './answer-schemas.ts';
import type { StoredMessageStatus } from './message-status-store.ts';

type DescribedMessage = Wire<Static<typeof MessageStatusSchema>>;

/** Event kinds that record a recipient's outcome; others are notes, opens and clicks. */
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
 * The public view of a message: content summary, state, history and next attempt. Excludes personalization values, so
 * it contains no secrets.
 */
export function describeMessage(
  messageId: MessageId,
  status: StoredMessageStatus,
  account: Account,
): DescribedMessage {
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

/** In event numbering order. Addresses are null once the message's personal data is erased. */
function describeRecipients({
  message,
  entry,
  events,
}: StoredMessageStatus): DescribedMessage['recipients'] {
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

/** When and why the message is retried; null if no attempt is left. */
function describeNextAttempt(
  { entry }: StoredMessageStatus,
  account: Account,
): DescribedMessage['nextAttempt'] {
  if (entry === undefined || entry.leased) return null;
  if (account.suspended) {
    return { at: null, reason: 'held, as the account is suspended; sent on once it is not' };
  }
  return {
    at: entry.due_at,
    reason: entry.reason ?? (entry.due_at === null ? 'waits for a person' : 'waits for its turn'),
  };
}
