import { standardWebhooks } from './sign-webhook.ts';
import type { WebhookFacts, WebhookFormat } from './webhook-format.ts';

const describeBounce = ({ text, bounceType, bounceSubType }: WebhookFacts) => ({
  bounce: { message: text, type: bounceType, subType: bounceSubType },
});

const describeClick = ({ ip, time, userAgent }: WebhookFacts) => ({
  click: { ipAddress: ip, link: '', timestamp: time, userAgent },
});

/** Resend's format (resend.com/docs/webhooks/emails), signed with the headers of Svix. */
export const resendWebhook: WebhookFormat = {
  events: {
    accepted: ['email.sent'],
    delivered: ['email.delivered'],
    bounced: ['email.bounced', describeBounce],
    deferred: ['email.delivery_delayed'],
    expired: ['email.bounced', describeBounce],
    failed: ['email.failed', ({ text: reason }) => ({ failed: { reason } })],
    delayed: ['email.delivery_delayed'],
    complained: ['email.complained'],
    opened: ['email.opened'],
    clicked: ['email.clicked', describeClick],
  },
  describe(name, { kind, time, acceptedAt, headerId, from, to, subject, ...event }, members) {
    return {
      type: kind === 'accepted' && event.isScheduled ? 'email.scheduled' : name,
      created_at: time,
      data: {
        created_at: acceptedAt.toISOString(),
        email_id: event.messageId,
        message_id: headerId && `<${headerId}>`,
        from,
        to,
        subject,
        // Not the reserved ones of messages without a template.
        ...(event.templateId?.startsWith('.') === false && { template_id: event.templateId }),
        tags: event.tags,
        ...members,
      },
    };
  },
  ...standardWebhooks('svix'),
};
