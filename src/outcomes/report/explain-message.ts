import { isOutcome } from '../../content/message/describe-message.ts';
import type { OutcomeKind } from '../../content/message/event-kinds.ts';
import { recipientsOf, sentNumber } from '../../content/message/message-content.ts';
import type {
  PausedScope,
  QueuedDelivery,
  StoredEvent,
  StoredMessageStatus,
} from '../../content/message/message-status-store.ts';
import { scheduledReason } from '../../content/message/scheduled-class.ts';

/** Why a message hasn't arrived, and what the user can do about it. */
export interface DeliveryExplanation {
  readonly sentence: string;
  readonly nextStep: string;
}

const causes: Readonly<Record<string, readonly [why: string, step: string]>> = {
  'no-mailbox': [
    'the mailbox doesn’t exist',
    'Ask the recipient for the right address. This one is now suppressed.',
  ],
  'mailbox-disabled': [
    'the mailbox is disabled',
    'Ask the recipient for another address. This one isn’t suppressed, because the mailbox may be enabled again.',
  ],
  'no-domain': [
    'the domain doesn’t accept mail',
    'Check the address for typos. It is now suppressed.',
  ],
  filtered: [
    'the server accepted the address but rejected the message, as a recipient’s filter does',
    'Ask the recipient whether a filter blocks your mail.',
  ],
  'mailbox-full': [
    'the mailbox is full',
    'Contact the recipient another way, or send again later.',
  ],
  reputation: [
    'the server doesn’t trust the sending IP address',
    'Check the block list named in the reply, and request removal.',
  ],
  authentication: [
    'the server couldn’t authenticate the sending domain',
    'Check SPF, DKIM and DMARC of the sender’s domain.',
  ],
  content: ['the server classified it as spam', 'Check the message’s text and links.'],
  policy: [
    'the server’s policy forbids it',
    'Read the reply; the recipient’s administrator can allow it.',
  ],
  size: ['the message is too large', 'Make the template smaller.'],
  sender: [
    'the server rejects the sender address',
    'Check that the sender address exists and accepts mail.',
  ],
  relaying: [
    'the server doesn’t relay mail for that domain',
    'Check SMTP_URL and your account at the relay.',
  ],
};

/**
 * Answers "why hasn't it arrived?" for one recipient of a message.
 * @param recipient 0 is To, 1 and up are Cc
 */
export function explainMessage(
  { message, queued, events }: StoredMessageStatus,
  recipient = 0,
): DeliveryExplanation {
  const { content } = message;
  const sent = content ? sentNumber(recipientsOf(content), recipient) : recipient;
  const last = events.filter(isOutcome).findLast((event) => event.recipient === sent);
  const waiting = queued.find((delivery) => delivery.recipient === sent);
  if (waiting !== undefined) return explainWaiting(waiting, last);
  if (last === undefined)
    return message.state === 'queued'
      ? {
          sentence: 'It is queued.',
          nextStep: 'Wait a moment. If it stays queued, check that a worker is running.',
        }
      : { sentence: `It is ${message.state}.`, nextStep: 'See its events.' };
  return explainers[last.kind](last);
}

const pausedExplanations: Readonly<Record<PausedScope, DeliveryExplanation>> = {
  message: { sentence: 'It is paused.', nextStep: 'Resume or cancel it.' },
  destination: {
    sentence: 'Mail to its domain is paused.',
    nextStep: 'Resume mail to the domain, or cancel the message.',
  },
  account: { sentence: 'All mail is paused.', nextStep: 'Resume mail, or cancel the message.' },
};

function explainWaiting(entry: QueuedDelivery, last: StoredEvent | undefined): DeliveryExplanation {
  if (entry.leased) return { sentence: 'It is being sent now.', nextStep: 'Wait a moment.' };
  if (entry.paused !== null) return pausedExplanations[entry.paused];
  const why = entry.reason ?? (last === undefined ? undefined : reasonOf(last));
  const because = why === undefined ? '' : `: ${why}`;
  if (entry.due_at === null)
    return {
      sentence: `It is held for review${because}.`,
      nextStep: 'Retry or cancel it.',
    };
  if (entry.reason === scheduledReason)
    return {
      sentence: `It is scheduled for ${entry.due_at.toISOString()}.`,
      nextStep: 'You don’t need to do anything. Move or cancel it to change that.',
    };
  if (last === undefined)
    return {
      sentence: `It is queued${because}.`,
      nextStep: 'Wait a moment. If it stays queued, check that a worker is running.',
    };
  return {
    sentence: `It couldn’t be delivered yet${because}.`,
    nextStep: `It will be retried at ${entry.due_at.toISOString()}. You don’t need to do anything.`,
  };
}

const explainers: Readonly<Record<OutcomeKind, (event: StoredEvent) => DeliveryExplanation>> = {
  delivered: (event) => ({
    sentence: `The receiving server accepted it at ${event.at.toISOString()}.`,
    nextStep:
      'Ask the recipient to check the spam folder and other folders, or to show their administrator the server’s reply.',
  }),
  bounced: (event) => {
    const [why, step] = causes[String(detailOf(event).cause)] ?? [
      'the reply gives no known reason',
      'Read the server’s reply.',
    ];
    return {
      sentence: `The receiving server rejected it permanently: ${why} (${reasonOf(event) ?? 'no reason given'}).`,
      nextStep: step,
    };
  },
  deferred: (event) => ({
    sentence: `It was deferred: ${reasonOf(event) ?? 'no reason given'}.`,
    nextStep: 'It will be retried automatically.',
  }),
  expired: (event) => ({
    sentence: `It expired: ${reasonOf(event) ?? 'no reason given'}.`,
    nextStep: 'Send a new message if it is still relevant.',
  }),
  failed: (event) => ({
    sentence: `Sending failed because of an internal error: ${reasonOf(event) ?? 'no reason given'}.`,
    nextStep: 'Fix the template, then retry the message.',
  }),
  uncertain: (event) => ({
    sentence:
      detailOf(event).by === 'restore'
        ? 'It may have been delivered: it was queued at the time of a backup from which the database was restored.'
        : 'It may have been delivered: the connection broke after the whole message was sent.',
    nextStep: 'Ask the recipient before you retry it.',
  }),
  suppressed: () => ({
    sentence: 'The address is suppressed.',
    nextStep: 'See the reason in the suppression list. Remove the address if it is wrong.',
  }),
  canceled: (event) => ({
    sentence: `It was canceled: ${reasonOf(event) ?? 'no reason given'}.`,
    nextStep: 'Send a new message if it is still relevant.',
  }),
};

function detailOf(event: StoredEvent): Readonly<Record<string, unknown>> {
  return typeof event.detail === 'object' && event.detail !== null
    ? (event.detail as Readonly<Record<string, unknown>>)
    : {};
}

function reasonOf(event: StoredEvent): string | undefined {
  const { reason } = detailOf(event);
  return typeof reason === 'string' && reason !== '' ? reason : undefined;
}
