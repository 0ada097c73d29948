import { textOf } from '../relay/json-fields.ts';
import { signWebhook } from './sign-webhook.ts';
import {
  messageOf,
  readerOf,
  serverReply,
  sesBounce,
  type WebhookEvent,
  type WebhookFormat,
} from './webhook-format.ts';

/** The member that Amazon SES adds for an event, named after its type. */
function describeKind(event: WebhookEvent): object {
  const { kind, eventId: feedbackId, address, detail } = event;
  const timestamp = event.at.toISOString();
  const { text, status } = serverReply(event);
  const { ip: ipAddress, userAgent } = readerOf(event);
  const emailAddress = address ?? '';
  const said = {
    ...(status !== '' && { status }),
    ...(text !== '' && { diagnosticCode: `smtp; ${text}` }),
  };
  switch (kind) {
    case 'accepted':
      return { send: {} };
    case 'delivered': {
      const processingTimeMillis = event.at.getTime() - messageOf(event).acceptedAt.getTime();
      const recipients = [emailAddress];
      return { delivery: { timestamp, processingTimeMillis, recipients, smtpResponse: text } };
    }
    case 'deferred':
    case 'delayed': {
      const delayType = detail.cause === 'mailbox-full' ? 'MailboxFull' : 'General';
      const delayedRecipients = [{ emailAddress, ...said }];
      return { deliveryDelay: { timestamp, delayType, delayedRecipients } };
    }
    case 'bounced':
    case 'expired': {
      const { type: bounceType, subType: bounceSubType } = sesBounce(event);
      const bouncedRecipients = [{ emailAddress, action: 'failed', ...said }];
      return { bounce: { bounceType, bounceSubType, bouncedRecipients, timestamp, feedbackId } };
    }
    case 'complained': {
      const complainedRecipients = [{ emailAddress }];
      const complaintFeedbackType = textOf(detail.feedbackType) || 'abuse';
      return { complaint: { complainedRecipients, timestamp, feedbackId, complaintFeedbackType } };
    }
    case 'opened':
      return { open: { timestamp, ipAddress, userAgent } };
    case 'clicked':
      return { click: { timestamp, ipAddress, userAgent, link: '', linkTags: null } };
    case 'failed':
      return { reject: { reason: text } };
    default:
      return {
        subscription: {
          contactList: '',
          timestamp,
          source: 'UnsubscribeHeader',
          newTopicPreferences: { unsubscribeAll: true, topicSubscriptionStatus: [] },
          oldTopicPreferences: { unsubscribeAll: false, topicSubscriptionStatus: [] },
        },
      };
  }
}

/**
 * The events that Amazon SES publishes (docs.aws.amazon.com/ses, contents of event data), without the notification of SNS around
 * them: only Amazon can sign that, so they have our own signature (Standard Webhooks).
 */
export const sesWebhook: WebhookFormat = {
  names: {
    accepted: 'Send',
    delivered: 'Delivery',
    bounced: 'Bounce',
    deferred: 'DeliveryDelay',
    expired: 'Bounce',
    failed: 'Reject',
    uncertain: null,
    canceled: null,
    delayed: 'DeliveryDelay',
    complained: 'Complaint',
    unsubscribed: 'Subscription',
    replied: null,
    opened: 'Open',
    clicked: 'Click',
  },
  describe(event) {
    const { acceptedAt, headerId, from, fromAddress, subject, to } = messageOf(event);
    const tags = Object.entries(event.attributes ?? {}).map(([name, value]) => [name, [value]]);
    return {
      eventType: sesWebhook.names[event.kind],
      mail: {
        timestamp: acceptedAt.toISOString(),
        messageId: event.messageId,
        source: fromAddress,
        destination: to,
        headersTruncated: false,
        headers: [],
        commonHeaders: { from: [from], to, subject, messageId: headerId },
        tags: Object.fromEntries(tags),
      },
      ...describeKind(event),
    };
  },
  signsTwice: true,
  sign: ({ id, timestamp, body }, secrets) => ({
    body,
    headers: signWebhook(id, timestamp, body, secrets),
  }),
};
