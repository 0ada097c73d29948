import type { PermanentCause } from '../../delivery/reply-rules.ts';
import type { MessageId } from '../../foundation/ids.ts';
import type { FeedbackEvent } from '../bounce/feedback-event-store.ts';
import { fieldsOf, listOf, textOf } from './json-fields.ts';
import { messageHeader, messageIdOf, relayBounce, relayEvent } from './relay-event.ts';

const by = 'Amazon SES';

const causeBySubType: Readonly<Record<string, PermanentCause>> = {
  NoEmail: 'no-mailbox',
  MailboxFull: 'mailbox-full',
  MessageTooLarge: 'size',
  ContentRejected: 'content',
};

/** Reads bounces and complaints from an Amazon SES notification or event, the JSON inside an SNS message. */
export function readSes(message: unknown): FeedbackEvent[] {
  const root = fieldsOf(message);
  const messageId = findMessage(root.mail);
  if (messageId === undefined) return [];
  const kind = textOf(root.notificationType ?? root.eventType);
  if (kind === 'Bounce') {
    const bounce = fieldsOf(root.bounce);
    return listOf(bounce.bouncedRecipients).map((entry) => {
      const recipient = fieldsOf(entry);
      return relayBounce({
        by,
        messageId,
        address: textOf(recipient.emailAddress),
        status: textOf(recipient.status),
        words:
          textOf(recipient.diagnosticCode) ||
          `${textOf(bounce.bounceType)} ${textOf(bounce.bounceSubType)}`,
        permanent: bounce.bounceType === 'Permanent',
        cause: causeBySubType[textOf(bounce.bounceSubType)],
        report: textOf(bounce.feedbackId),
      });
    });
  }
  if (kind !== 'Complaint') return [];
  const complaint = fieldsOf(root.complaint);
  const feedbackType = textOf(complaint.complaintFeedbackType) || 'abuse';
  if (feedbackType === 'not-spam') return [];
  return listOf(complaint.complainedRecipients).map((entry) =>
    relayEvent(
      'complained',
      by,
      messageId,
      textOf(fieldsOf(entry).emailAddress),
      textOf(complaint.feedbackId),
      {
        feedbackType,
      },
    ),
  );
}

/** SES assigns its own message IDs; ours is in a header of the original. */
function findMessage(mail: unknown): MessageId | undefined {
  for (const entry of listOf(fieldsOf(mail).headers)) {
    const { name, value } = fieldsOf(entry);
    const lower = textOf(name).toLowerCase();
    if (lower === messageHeader.toLowerCase() || lower === 'message-id') {
      const found = messageIdOf(textOf(value));
      if (found !== undefined) return found;
    }
  }
  return undefined;
}
