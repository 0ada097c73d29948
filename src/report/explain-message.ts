import { isOutcome } from '../message/describe-message.ts';
import type { OutcomeKind } from '../message/event-kinds.ts';
import type { StoredEvent, StoredMessageStatus } from '../message/message-status-store.ts';

/** Why a message hasn't arrived, and what the user can do about it. */
export interface DeliveryExplanation {
  readonly sentence: string;
  readonly nextStep: string;
}

const causes: Readonly<Record<string, readonly [why: string, step: string]>> = {
  'no-mailbox': [
    'there is no such mailbox',
    'Ask the recipient for the right address; this one is suppressed from now on.',
  ],
  'mailbox-disabled': [
    'the mailbox is disabled',
    'Ask the recipient for another address; this one is tried again with the next message, since mailboxes are opened again.',
  ],
  'no-domain': [
    'the domain takes no mail',
    'Look for a typing error in the address; it is suppressed from now on.',
  ],
  filtered: [
    'the receiver took the address and refused the message, as filters of recipients do',
    'Ask the recipient whether a filter keeps your mail away.',
  ],
  'mailbox-full': [
    'the mailbox is full',
    'Tell the recipient in another way, and send again later.',
  ],
  reputation: [
    'the receiver does not trust the sending address',
    'Look at the block list that the reply names, and ask to be taken off.',
  ],
  authentication: [
    'the receiver could not verify the sending domain',
    'Check SPF, DKIM and DMARC of the sender’s domain.',
  ],
  content: [
    'the receiver took it for spam',
    'Look at what the message says and where its links lead.',
  ],
  policy: [
    'a rule of the receiver forbids it',
    'Read the reply; the recipient’s administrator can allow it.',
  ],
  size: ['the message is too large', 'Make the template smaller.'],
  sender: [
    'the receiver refuses the sender address',
    'Check that the sender address exists and takes mail.',
  ],
  relaying: [
    'the server does not deliver for that domain',
    'Check SMTP_URL and the account at the relay.',
  ],
};

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
          sentence: 'It was accepted and waits for its turn.',
          nextStep: 'Wait a moment; if it stays so, see that a worker runs.',
        }
      : { sentence: `It is ${message.state}.`, nextStep: 'Look at its events.' };
  return explainers[last.kind](last);
}

function explainWaiting(
  entry: NonNullable<StoredMessageStatus['entry']>,
  last: StoredEvent | undefined,
): DeliveryExplanation {
  if (entry.leased) return { sentence: 'It is being sent right now.', nextStep: 'Wait a moment.' };
  const why = entry.reason ?? (last === undefined ? undefined : reasonOf(last));
  const because = why === undefined ? '' : `: ${why}`;
  if (entry.due_at === null)
    return {
      sentence: `It waits for a person${because}.`,
      nextStep: 'Send it again or cancel it.',
    };
  if (last === undefined)
    return {
      sentence: `It was accepted and waits for its turn${because}.`,
      nextStep: 'Wait a moment; if it stays so, see that a worker runs.',
    };
  return {
    sentence: `It could not be handed over yet${because}.`,
    nextStep: `It is tried again at ${entry.due_at.toISOString()}; nothing needs to be done.`,
  };
}

const explainers: Readonly<Record<OutcomeKind, (event: StoredEvent) => DeliveryExplanation>> = {
  delivered: (event) => ({
    sentence: `The recipient’s server took it at ${event.at.toISOString()}.`,
    nextStep:
      'Look in the spam folder and in other folders; ask the recipient’s administrator with the reply of the server.',
  }),
  bounced: (event) => {
    const [why, step] = causes[String(detailOf(event).cause)] ?? [
      'it did not say a known reason',
      'Read the reply of the server.',
    ];
    return {
      sentence: `The recipient’s server refused it for good: ${why} (${reasonOf(event) ?? 'no words'}).`,
      nextStep: step,
    };
  },
  deferred: (event) => ({
    sentence: `It was put off: ${reasonOf(event) ?? 'no words'}.`,
    nextStep: 'It is tried again by itself.',
  }),
  expired: (event) => ({
    sentence: `Its time was over: ${reasonOf(event) ?? ''}.`,
    nextStep: 'Send it again if it is still wanted.',
  }),
  failed: (event) => ({
    sentence: `It could not be made: ${reasonOf(event) ?? ''}.`,
    nextStep: 'Mend the template, then send it again by hand.',
  }),
  uncertain: () => ({
    sentence: 'It may have been delivered: the connection broke after the whole message was sent.',
    nextStep: 'Ask the recipient before you send it again.',
  }),
  suppressed: () => ({
    sentence: 'The address is suppressed.',
    nextStep: 'See why in the suppression list; take it off if that was wrong.',
  }),
  canceled: (event) => ({
    sentence: `It was stopped: ${reasonOf(event) ?? 'by hand'}.`,
    nextStep: 'Send a new message if it is still wanted.',
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
