import type { MessageId } from '../../base/values/ids.ts';
import type { PermanentCause } from '../../sending/delivery/reply-rules.ts';
import { tokenHeader } from './delivery-tokens.ts';
import { fieldsOf, type JsonFields, listOf, textOf } from './json-fields.ts';
import {
  messageIdOf,
  type NamedDelivery,
  type RelayReport,
  relayBounce,
  relayEvent,
} from './relay-event.ts';

const causeBySubType: Readonly<Record<string, PermanentCause>> = {
  NoEmail: 'no-mailbox',
  MailboxFull: 'mailbox-full',
  MessageTooLarge: 'size',
  ContentRejected: 'content',
};

/** Sub-types of a permanent bounce that mean an invalid address if no server says why. */
const invalidAddress: ReadonlySet<string> = new Set([
  'General',
  'Suppressed',
  'OnAccountSuppressionList',
]);

function causeOf(bounce: JsonFields, recipient: JsonFields): PermanentCause | undefined {
  const subType = textOf(bounce.bounceSubType);
  const isInvalid = bounce.bounceType === 'Permanent' && textOf(recipient.diagnosticCode) === '';
  if (isInvalid && invalidAddress.has(subType)) return 'no-mailbox';
  return causeBySubType[subType];
}

/** Reads bounces and complaints from an Amazon SES notification or event, the JSON inside an SNS message. */
export function readSes(message: unknown): RelayReport[] {
  const root = fieldsOf(message);
  const delivery = readDelivery(root.mail);
  const kind = textOf(root.notificationType ?? root.eventType);
  const about = (recipient: JsonFields, { feedbackId }: JsonFields) => ({
    by: 'Amazon SES',
    delivery,
    address: textOf(recipient.emailAddress),
    report: textOf(feedbackId),
  });
  if (kind === 'Bounce') {
    const bounce = fieldsOf(root.bounce);
    return listOf(bounce.bouncedRecipients).map((entry) => {
      const recipient = fieldsOf(entry);
      const types = `${textOf(bounce.bounceType)} ${textOf(bounce.bounceSubType)}`;
      return relayBounce(about(recipient, bounce), {
        status: textOf(recipient.status),
        words: textOf(recipient.diagnosticCode) || types,
        permanent: bounce.bounceType === 'Permanent',
        cause: causeOf(bounce, recipient),
      });
    });
  }
  if (kind !== 'Complaint') return [];
  const complaint = fieldsOf(root.complaint);
  const feedbackType = textOf(complaint.complaintFeedbackType) || 'abuse';
  if (feedbackType === 'not-spam') return [];
  return listOf(complaint.complainedRecipients).map((entry) =>
    relayEvent(about(fieldsOf(entry), complaint), 'complained', { feedbackType }),
  );
}

/** SES assigns its own message IDs, which its reply to the delivery has; headers are in notifications only if that is set up. */
function readDelivery(mail: unknown): NamedDelivery {
  let token = '';
  let earlier: MessageId | undefined;
  for (const entry of listOf(fieldsOf(mail).headers)) {
    const { name, value } = fieldsOf(entry);
    const lower = textOf(name).toLowerCase();
    if (lower === tokenHeader.toLowerCase() && token === '') token = textOf(value).trim();
    if (lower === 'message-id') earlier ??= messageIdOf(textOf(value));
  }
  const named = messageIdOf(token);
  return {
    token: named === undefined ? token : '',
    relayId: textOf(fieldsOf(mail).messageId),
    earlier: named ?? earlier,
  };
}
