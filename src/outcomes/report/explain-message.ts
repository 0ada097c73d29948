import { isOutcome } from '../../content/message/describe-message.ts';
import type { OutcomeKind } from '../../content/message/event-kinds.ts';
import type {
  PausedScope,
  StoredEvent,
  StoredMessageStatus,
} from '../../content/message/message-status-store.ts';
import { scheduledReason } from '../../content/message/scheduled-class.ts';
import type { PermanentCause, TemporaryCause } from '../../sending/delivery/reply-rules.ts';
import type { FaultKind } from '../../sending/delivery/transport.ts';
import { canceledReason } from '../../sending/queue/control-store.ts';

/** Why a message hasn't arrived, and what the user can do about it. */
export interface DeliveryExplanation {
  readonly sentence: string;
  readonly nextStep: string;
  /** Of the receiving server, with placeholders for addresses. */
  readonly reply?: string;
}

type Explained = readonly [why: string, step: string];

const causes: Readonly<Partial<Record<PermanentCause, Explained>>> = {
  'no-mailbox': [
    'That mailbox doesn’t exist.',
    'Ask the recipient for the right address. A hard bounce suppresses this one.',
  ],
  'mailbox-disabled': [
    'The mailbox is disabled.',
    'Ask the recipient for another address. This one isn’t suppressed, because the mailbox may be enabled again.',
  ],
  'no-domain': [
    'The domain doesn’t accept mail.',
    'Check the address for typos. A hard bounce suppresses it.',
  ],
  filtered: [
    '{server} accepted the address but rejected the message, as a recipient’s filter does.',
    'Ask the recipient whether a filter blocks your mail.',
  ],
  'mailbox-full': [
    'The mailbox is full.',
    'Contact the recipient another way, or send again later.',
  ],
  reputation: [
    '{server} doesn’t trust the sending IP address.',
    'Check the block list named in the reply, and request removal.',
  ],
  authentication: [
    '{server} couldn’t authenticate the sending domain.',
    'Check SPF, DKIM and DMARC of the sender’s domain.',
  ],
  content: ['{server} classified it as spam.', 'Check the message’s text and links.'],
  policy: [
    'A policy of {server} forbids it.',
    'Read the reply; the recipient’s administrator can allow it.',
  ],
  size: ['It is too large for {server}.', 'Make the template smaller.'],
  sender: [
    '{server} rejected the sender address.',
    'Check that the sender address exists and accepts mail.',
  ],
  loop: [
    'It went in a loop between servers.',
    'Read the reply; the recipient’s administrator can end the loop.',
  ],
  unsupported: [
    '{server} doesn’t support what the message needs.',
    'Ask the recipient for another address.',
  ],
  relaying: [
    '{server} doesn’t relay mail for that domain.',
    'Check SMTP_URL and your account at the relay.',
  ],
};

const nothingToDo = 'You don’t need to do anything.';

const temporaryCauses: Readonly<Partial<Record<TemporaryCause | FaultKind, Explained>>> = {
  greylist: ['Greylisted: {server} asks new senders to wait.', nothingToDo],
  throttled: ['{server} limits how fast it takes your mail.', nothingToDo],
  'mailbox-full': ['The mailbox is full.', 'If it is urgent, contact the recipient another way.'],
  'mailbox-busy': ['The mailbox is busy.', nothingToDo],
  reputation: [
    '{server} doesn’t trust the sending IP address for now.',
    'Check the block list named in the reply, and request removal.',
  ],
  authentication: [
    '{server} couldn’t authenticate the sending domain.',
    'Check SPF, DKIM and DMARC of the sender’s domain, and the reverse DNS of the sending IP address.',
  ],
  dns: ['{server} couldn’t look up a domain.', nothingToDo],
  'receiver-fault': ['{server} has an internal error.', nothingToDo],
  'receiver-busy': ['{server} is busy.', nothingToDo],
  'our-credentials': [
    '{server} rejected the login.',
    'Check the user name and password in SMTP_URL.',
  ],
  protocol: ['The SMTP session with {server} failed.', nothingToDo],
  name: ['The DNS lookup failed.', 'If it keeps failing, check the address for typos.'],
  connection: ['Couldn’t connect to {server}.', nothingToDo],
  tls: ['Couldn’t establish a trusted TLS connection to {server}.', nothingToDo],
  timeout: ['{server} didn’t respond in time.', nothingToDo],
  closed: ['{server} closed the connection.', nothingToDo],
  source: ['No source address is available.', 'Check DIRECT_SOURCES.'],
  database: ['Signalpost’s database didn’t respond in time.', nothingToDo],
};

/** Names the server of an event, which is stored as `host:port`. */
function explained([why, step]: Explained, event: StoredEvent): DeliveryExplanation {
  const { server, reply, by, reason } = detailOf(event);
  // A bounce message quotes the server.
  const words = by === 'mail' ? reason : reply;
  const host = typeof server === 'string' ? server.replace(/:\d+$/, '') : '';
  const name = host || (why.startsWith('{') ? 'The receiving server' : 'the receiving server');
  return {
    sentence: why.replace('{server}', name),
    nextStep: step,
    ...(typeof words === 'string' && words !== '' && { reply: words }),
  };
}

/**
 * Answers "why hasn't it arrived?" for one recipient of a message.
 * @param recipient 0 is To, 1 and up are Cc
 */
export function explainMessage(
  { message, entry, events }: StoredMessageStatus,
  recipient = 0,
): DeliveryExplanation {
  const last = events.filter(isOutcome).findLast((event) => event.recipient === recipient);
  if (entry?.pending.includes(recipient) === true) return explainWaiting(entry, last);
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

function explainWaiting(
  entry: NonNullable<StoredMessageStatus['entry']>,
  last: StoredEvent | undefined,
): DeliveryExplanation {
  if (entry.leased) return { sentence: 'It is being sent now.', nextStep: 'Wait a moment.' };
  if (entry.paused !== null) return pausedExplanations[entry.paused];
  const why = entry.reason ?? (last && reasonOf(last));
  const because = why === undefined ? '' : `: ${why}`;
  if (entry.due_at === null)
    return {
      sentence: `It is held for review${because}.`,
      nextStep: 'Retry or cancel it.',
    };
  if (entry.reason === scheduledReason)
    return {
      sentence: `It is scheduled for ${entry.due_at.toISOString()}.`,
      nextStep: `${nothingToDo} Move or cancel it to change that.`,
    };
  if (last === undefined)
    return {
      sentence: `It is queued${because}.`,
      nextStep: 'Wait a moment. If it stays queued, check that a worker is running.',
    };
  // It may wait for something else since its last attempt.
  return why === reasonOf(last)
    ? explainDeferred(last)
    : { sentence: `It waits${because}.`, nextStep: 'It is sent once that is over.' };
}

function explainDeferred(event: StoredEvent): DeliveryExplanation {
  const why = `It couldn’t be delivered yet: ${reasonOf(event) ?? 'no reason given'}.`;
  return explained(temporaryCauses[causeOf(event) as TemporaryCause] ?? [why, nothingToDo], event);
}

const explainers: Readonly<Record<OutcomeKind, (event: StoredEvent) => DeliveryExplanation>> = {
  delivered: (event) => ({
    sentence: `The receiving server accepted it at ${event.at.toISOString()}.`,
    nextStep:
      'Ask the recipient to check the spam folder and other folders, or to show their administrator the server’s reply.',
  }),
  bounced: (event) =>
    explained(
      causes[causeOf(event) as PermanentCause] ?? [
        'The receiving server rejected it permanently.',
        'Read the server’s reply.',
      ],
      event,
    ),
  deferred: explainDeferred,
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
    sentence:
      reasonOf(event) === canceledReason
        ? 'It was canceled before it was sent.'
        : `It was canceled: ${reasonOf(event) ?? 'no reason given'}.`,
    nextStep: 'Send a new message if it is still relevant.',
  }),
};

function detailOf(event: StoredEvent): Readonly<Record<string, unknown>> {
  return typeof event.detail === 'object' && event.detail !== null
    ? (event.detail as Readonly<Record<string, unknown>>)
    : {};
}

function causeOf(event: StoredEvent): string {
  return String(detailOf(event).cause);
}

function reasonOf(event: StoredEvent): string | undefined {
  const { reason } = detailOf(event);
  return typeof reason === 'string' && reason !== '' ? reason : undefined;
}
