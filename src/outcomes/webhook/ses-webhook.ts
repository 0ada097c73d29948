import { textOf } from '../relay/json-fields.ts';
import { standardWebhooks } from './sign-webhook.ts';
import type { WebhookFacts, WebhookFormat } from './webhook-format.ts';

/** A recipient with what the server said. */
const describeRecipient = ({ email: emailAddress, status, text }: WebhookFacts) => ({
  emailAddress,
  ...(status !== '' && { status }),
  ...(text !== '' && { diagnosticCode: `smtp; ${text}` }),
});

const describeDelay = (facts: WebhookFacts) => {
  const delayType = facts.cause === 'mailbox-full' ? 'MailboxFull' : 'General';
  const delayedRecipients = [describeRecipient(facts)];
  return { deliveryDelay: { timestamp: facts.time, delayType, delayedRecipients } };
};

const describeBounce = (facts: WebhookFacts) => {
  const { bounceType, bounceSubType, time: timestamp, eventId: feedbackId } = facts;
  const bouncedRecipients = [{ action: 'failed', ...describeRecipient(facts) }];
  return { bounce: { bounceType, bounceSubType, bouncedRecipients, timestamp, feedbackId } };
};

const describeReader = ({ time: timestamp, ip: ipAddress, userAgent }: WebhookFacts) => {
  return { timestamp, ipAddress, userAgent };
};

/**
 * The events that Amazon SES publishes (docs.aws.amazon.com/ses, contents of event data), without the notification of SNS around
 * them: only Amazon can sign that, so they have our own signature (Standard Webhooks).
 */
export const sesWebhook: WebhookFormat = {
  events: {
    accepted: ['Send', () => ({ send: {} })],
    delivered: [
      'Delivery',
      ({ time: timestamp, at, acceptedAt, to: recipients, text: smtpResponse }) => {
        const processingTimeMillis = at.getTime() - acceptedAt.getTime();
        return { delivery: { timestamp, processingTimeMillis, recipients, smtpResponse } };
      },
    ],
    bounced: ['Bounce', describeBounce],
    deferred: ['DeliveryDelay', describeDelay],
    expired: ['Bounce', describeBounce],
    failed: ['Reject', ({ text: reason }) => ({ reject: { reason } })],
    delayed: ['DeliveryDelay', describeDelay],
    complained: [
      'Complaint',
      ({ email: emailAddress, time: timestamp, eventId: feedbackId, detail }) => {
        const complaintFeedbackType = textOf(detail.feedbackType) || 'abuse';
        const about = { timestamp, feedbackId, complaintFeedbackType };
        return { complaint: { complainedRecipients: [{ emailAddress }], ...about } };
      },
    ],
    unsubscribed: [
      'Subscription',
      ({ time: timestamp }) => {
        const newTopicPreferences = { unsubscribeAll: true, topicSubscriptionStatus: [] };
        const about = { contactList: '', timestamp, source: 'UnsubscribeHeader' };
        return { subscription: { ...about, newTopicPreferences } };
      },
    ],
    opened: ['Open', (facts) => ({ open: describeReader(facts) })],
    clicked: [
      'Click',
      (facts) => ({ click: { ...describeReader(facts), link: '', linkTags: null } }),
    ],
  },
  describe(eventType, facts, members) {
    const { from, to, subject } = facts;
    const tags = Object.entries(facts.tags).map(([name, value]) => [name, [value]]);
    const mail = {
      timestamp: facts.acceptedAt.toISOString(),
      messageId: facts.messageId,
      source: facts.fromAddress,
      destination: to,
      headersTruncated: false,
      headers: [],
      commonHeaders: { from: [from], to, subject, messageId: facts.headerId },
      tags: Object.fromEntries(tags),
    };
    return { eventType, mail, ...members };
  },
  ...standardWebhooks('webhook'),
};
